"""The command that adds an extra to this very installation: from where that came, by the pip of its environment."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from annotate.console import typed

DISTRIBUTION = "annotate-judge"


def how_to_add(extra: str) -> str:
    """One line for a shell that brings ``extra`` into the environment that runs this."""
    return f"{_installer()} {_requirement(extra)}"


def _installer() -> str:
    if importlib.util.find_spec("pip") is None:  # sqlite-utils brings it so far, also where uv made the environment
        return f"uv pip install --python '{sys.prefix}'"
    nearest = shutil.which("pip")
    if nearest and Path(nearest).parent == Path(sys.executable).parent:
        return "pip install"
    return f"{typed(sys.executable)} -m pip install"


def minimum_versions() -> dict[str, str]:
    """The lowest release of each package that this installation asks for; none where it was not installed."""
    try:
        wanted = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    found = (re.match(r"([\w.-]+)(?:\[[^\]]*\])?>=([\d.]+)", each) for each in wanted)
    return {each[1]: each[2] for each in found if each}


def _requirement(extra: str) -> str:
    """What pip is to install, quoted: by name, or by the place that this installation was made from (PEP 610)."""
    origin = _origin()
    url = origin.get("url", "")
    if not url:
        return f"'{DISTRIBUTION}[{extra}]'"
    if (folder := origin.get("dir_info")) is not None:
        edited = "-e " if folder.get("editable") else ""
        return f"{edited}'{url2pathname(urlsplit(url).path)}[{extra}]'"
    if vcs := origin.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"'{DISTRIBUTION}[{extra}] @ {url}'"


def _origin() -> dict[str, Any]:
    """direct_url.json of this installation; empty where it came from an index, or was never installed."""
    try:
        text = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        found: dict[str, Any] = json.loads(text or "{}")
        return found
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return {}
