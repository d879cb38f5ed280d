"""``python launch.py STUDY CODER [--plain] [--dwell MS]``: the desk, with the study's own codebook."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main() -> int:
    from annotate.protocols import parse_protocol
    from db.errors import AnnotateError
    from db.study import open_study
    from tui import run_coding

    parser = argparse.ArgumentParser()
    parser.add_argument("study", type=Path)
    parser.add_argument("coder")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--no-mouse", action="store_true")
    parser.add_argument("--theme")
    parser.add_argument("--dwell", type=int, default=0)
    parser.add_argument("--crash", action="store_true", help="the program fails at the first key")
    parser.add_argument("--modules", type=Path, help="write the names of all loaded modules here at the end")
    given = parser.parse_args()
    with open_study(given.study, read_only=True) as study:
        protocol = parse_protocol(study.protocol_toml, study.protocol_name)
    if given.crash:
        from tui.screens.coding import CodingScreen

        CodingScreen.hush = lambda screen: {}[screen.item.parts["response"].document.text]  # type: ignore[method-assign]
    try:
        summary = run_coding(
            given.study,
            given.coder,
            replace(protocol, min_dwell_ms=given.dwell),
            plain=given.plain,
            mouse=False if given.no_mouse else None,
            theme=given.theme,
            read_protocol=parse_protocol,
        )
    except AnnotateError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    finally:
        if given.modules is not None:
            given.modules.write_text("\n".join(sorted(sys.modules)))
    print(f"summary: {summary.items} items")
    return 0


if __name__ == "__main__":
    sys.exit(main())
