"""Whether installed packages load: tried in a process of its own, so that a broken one cannot take this one down."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

SECONDS = 120.0
_MARK = "loaded:"
_TRY = f"""
import importlib, sys, warnings
warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
        said = ""
    except Exception as error:
        said = f"{{type(error).__name__}}: {{error}}"
    print("{_MARK}" + name + ":" + " ".join(said.split())[:200], flush=True)
"""


def load_faults(modules: Sequence[str]) -> dict[str, str]:
    """Why each of ``modules`` that is installed does not load; those that do are left out."""
    if not modules:
        return {}
    words = [sys.executable, "-P", "-c", _TRY, *modules]  # -P: no module of the folder in which this runs
    where = os.environ | {"PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            words, capture_output=True, encoding="utf-8", errors="replace", env=where, check=False, timeout=SECONDS
        )
        printed, ended = done.stdout, f"Python ended with code {done.returncode} while it loaded"
    except subprocess.TimeoutExpired as error:
        printed = (error.stdout or b"").decode("utf-8", "replace") if isinstance(error.stdout, bytes) else ""
        ended = f"did not load within {SECONDS:.0f} seconds"
    lines = [line.removeprefix(_MARK) for line in printed.splitlines() if line.startswith(_MARK)]
    said = dict(line.split(":", 1) for line in lines)
    faults = {name: why for name, why in said.items() if why}
    stopped = next((name for name in modules if name not in said), None)
    return faults | ({stopped: ended} if stopped else {})
