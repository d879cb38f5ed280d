"""Makes the lead's pictures: ``python tests/tui/lead_pictures.py [FOLDER]`` writes ``dashboard-*``, ``adjudication-*``.

Without a folder, those of the documentation; with one, both sizes and themes, to be looked at.

The study is the EHQ sample in the middle of its coding; what Ada and Ben say is what the two simulated coders say.
"""

from __future__ import annotations

import asyncio
import csv
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from annotate.__main__ import run  # noqa: E402
from annotate.adjudicating import open_cases  # noqa: E402
from annotate.dashboard import StudyDashboard  # noqa: E402
from annotate.protocols import load_protocol  # noqa: E402
from db.coding import CodingSession  # noqa: E402
from db.records import Act  # noqa: E402
from db.study import open_study  # noqa: E402
from tests.tui.pictures import IMAGES, SAMPLE, without_links  # noqa: E402
from tui.casedesk import Step  # noqa: E402
from tui.screens.adjudication import CaseApp  # noqa: E402
from tui.screens.dashboard import DashboardApp  # noqa: E402

SIZES = ((120, 40), (80, 24))
DONE = {"Ada": 170, "Ben": 120}


def study(path: Path) -> None:
    """Drawn, frozen, handed out with repeats and hidden checks, and coded for the greater part."""
    for words in (
        ("init", path, "--protocol", "ehq", "--title", "EHQ, spring run"),
        ("import", path, "--items", SAMPLE / "EHQ-120.json.gz", "--records", SAMPLE / "records.jsonl.gz"),
        ("sample", path, "--n", 200, "--seed", 42),
        ("freeze", path, "--primary", "EHQ", "--judge", "ehq-rules"),
        ("assign", path, "--coders", "Ada,Ben", "--repeats", 0.05, "--hold"),
        ("release", path, "--batch", 190, "--due", "2030-01-31"),
    ):
        assert run([str(word) for word in words]) == 0
    with (SAMPLE / "simulated_coders.csv").open(encoding="utf-8", newline="") as file:
        said = {(row["question_id"], row["model"], row["coder"]): row["label"] for row in csv.DictReader(file)}
    for coder, simulated in (("Ada", "simulated-1"), ("Ben", "simulated-2")):
        code(path, coder, simulated, said)


def code(path: Path, coder: str, simulated: str, said: dict[tuple[str, str, str], str]) -> None:
    with CodingSession.open(path, coder, load_protocol("ehq")) as session:
        for number in range(DONE[coder]):
            item = session.next()
            assert item is not None
            key = session.study.connection.execute(
                "SELECT i.key, r.model FROM assignments a JOIN units u ON u.id = a.unit_id JOIN responses r"
                " ON r.id = u.response_id JOIN items i ON i.id = r.item_id WHERE a.uid = ?",
                (item.assignment,),
            ).fetchone()
            label = said[(*key, simulated)]
            session.save(Act("label", item.assignment, label=label, note="as it reads", active_ms=9000))
            if number == 60:
                session.save(Act("flag", item.assignment, flag="discuss", note="Is politeness a hedge?"))


async def dashboard(path: Path, size: tuple[int, int], theme: str) -> str:
    with open_study(path) as opened:
        app = DashboardApp(StudyDashboard(opened), theme=theme)
        async with app.run_test(size=size) as pilot:
            while app.counted is None or app.computed is None:
                await pilot.pause(0.05)
            await pilot.pause(0.2)
            shot = app.export_screenshot()
        app.finish()
    return shot


async def adjudication(path: Path, size: tuple[int, int], theme: str) -> str:
    with open_cases(path, "Lea") as session:
        app = CaseApp(session, "Lea", clock=time.monotonic, theme=theme)
        async with app.run_test(size=size) as pilot:
            while app.desk.step is Step.SAVING:
                await pilot.pause(0.05)
            await pilot.pause(0.2)
            shot = app.export_screenshot()
        app.finish()
    return shot


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    looks = [(SIZES[0], "dark")] if folder is None else [(size, theme) for size in SIZES for theme in ("dark", "light")]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "study.db"
        study(path)
        for size, theme in looks:
            name = f"{size[0]}x{size[1]}{'' if theme == 'dark' else '-light'}.svg"
            for what, make in (("dashboard", dashboard), ("adjudication", adjudication)):
                svg = without_links(asyncio.run(make(path, size, theme)))
                (folder or IMAGES).joinpath(f"{what}-{name}").write_text(svg, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
