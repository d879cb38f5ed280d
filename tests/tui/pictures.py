"""Makes the pictures of the documentation: ``python tests/tui/pictures.py`` writes ``docs/images/coding-*.svg``.

The items are those of the EHQ sample study, the labels are pressed by this script.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.tui.conftest import shipped, write_study  # noqa: E402
from tests.tui.seat import seated  # noqa: E402

SAMPLE = ROOT / "samples" / "ehq-run"
IMAGES = ROOT / "docs" / "images"


def sample_items() -> list[dict[str, object]]:
    """The sample's responses as items to code, one model, in the order of the file."""
    with gzip.open(SAMPLE / "EHQ-120.json.gz", "rt", encoding="utf-8") as file:
        items = {item["question_id"]: item for item in json.load(file)}
    with gzip.open(SAMPLE / "records.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return [_item(items[record["question_id"]], record) for record in records]


def _item(item: dict[str, object], record: dict[str, object]) -> dict[str, object]:
    answer = record["answer_response"]
    assert isinstance(answer, dict)
    withheld = item.get("redacted_value")
    return {
        "question": item["question"],
        "context": item.get("document"),
        "gold": item["acceptable_answers"],
        "rationale": item.get("source_fact")
        or item.get("background")
        or (f"Withheld: {withheld}" if withheld else None),
        "category": item["category"],
        "text": answer["text"] or "",
    }


async def picture(size: tuple[int, int], theme: str) -> str:
    """The desk on the sample after some items, with a context, a flag and a rule looked up."""
    items = sample_items()
    with_context = [item for item in items if item["context"]]
    others = [item for item in items if not item["context"]]
    chosen = [*others[:46], with_context[5], *others[46:100]]
    with tempfile.TemporaryDirectory() as folder:
        protocol = shipped("ehq")
        path = write_study(Path(folder) / "study.db", protocol, chosen, "Ada")
        async with seated((path, protocol), size=size, theme=theme, coder="Ada") as seat:
            await seat.press(*"hwwahwwwahwwhwwawwhwwaahwwhwwawhwhwwahwwwahwww"[:46])
            await seat.press("f", "d")
            return seat.app.export_screenshot()


def without_links(svg: str) -> str:
    """Fonts only from the reader's own machine."""
    return re.sub(r",?\s*url\([^)]*\)( format\([^)]*\))?", "", svg)


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for (width, height), theme in (((120, 40), "dark"), ((80, 24), "dark")):
        suffix = "" if theme == "dark" else f"-{theme}"
        svg = without_links(asyncio.run(picture((width, height), theme)))
        (IMAGES / f"coding-{width}x{height}{suffix}.svg").write_text(svg, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
