"""A report on disk: results.json, and Markdown and HTML drawn from it; run.json apart says who, where and when."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.backups import private_file
from db.errors import AnnotateError

if TYPE_CHECKING:
    from annotate.results import Results
    from db.study import Study

FILES = ("report.md", "report.html", "results.json", "run.json")


@dataclass(frozen=True, slots=True)
class Written:
    """The files of a report, in the order in which a person wants them."""

    files: tuple[Path, ...]


def write_report(study: Study, results: Results, folder: Path, *, force: bool = False) -> Written:
    """Write the report into ``folder``. Raises AnnotateError where one is there already, unless ``force``."""
    from annotate.reports.contents import report_document
    from annotate.reports.html import to_html
    from annotate.reports.markdown import to_markdown

    _ready(folder, force)
    found = results.to_dict()
    document = report_document(found)
    texts = {
        "report.md": to_markdown(document),
        "report.html": to_html(document, title=results.study["title"]),
        "results.json": json.dumps(found, ensure_ascii=False, allow_nan=False, indent=1) + "\n",
        "run.json": json.dumps(_run_facts(study), ensure_ascii=False, indent=1) + "\n",
    }
    for name, text in texts.items():
        _write(folder / name, text)
    return Written(tuple(folder / name for name in FILES))


def _ready(folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise AnnotateError(f"{folder}: is a file, expected a folder.", "Name another one with --out.")
    present = [name for name in FILES if (folder / name).exists()]
    if present and not force:
        raise AnnotateError(f"{folder}: there is a report already ({present[0]}).", "--force writes over it.")
    folder.mkdir(parents=True, exist_ok=True)


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    private_file(partial)
    try:
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _run_facts(study: Study) -> dict[str, Any]:
    """What differs from run to run, and so stands in no other file: time, place, versions."""
    from importlib.metadata import PackageNotFoundError, version

    from annotate import __version__
    from db.clock import utc_now

    found: dict[str, str] = {}
    for name in ("numpy", "scipy", "pandas", "scikit-learn", "krippendorff"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "study": str(study.path),
        "utc": utc_now(),
        "command": sys.argv[1:],
        "annotate": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": found,
    }
