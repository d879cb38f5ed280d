"""The child process of ``--callable``: reads JSON lines, calls the user's function on each, prints JSON lines.

What the function prints goes to stderr, so that it cannot be taken for an answer.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def load(where: str) -> Callable[[dict[str, Any]], Any]:
    """The function ``MODULE:FUNCTION`` or ``FILE.py:FUNCTION``."""
    name, _, function = where.rpartition(":")
    if name.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(name).stem, name)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[Path(name).stem] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(name)
    found: Callable[[dict[str, Any]], Any] = getattr(module, function)
    return found


def answer(function: Callable[[dict[str, Any]], Any], subject: dict[str, Any]) -> dict[str, Any]:
    """What the function says: a label as text, or a dict with label, score and rationale. An exception is a failure."""
    try:
        said = function(dict(subject))
    except Exception as error:
        return {"id": subject["id"], "error": f"{type(error).__name__}: {error}"}
    given = {"label": said} if isinstance(said, str) else dict(said) if isinstance(said, dict) else {}
    return {**given, "id": subject["id"]}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    function = load(sys.argv[1])
    for line in sys.stdin.buffer:
        answers.write(json.dumps(answer(function, json.loads(line)), default=str) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
