"""How fast the desk is: start against a bare Textual app, key to next item, memory, long texts.

Run from the repository: ``python benchmarks/desk.py`` takes about four minutes, prints what it measures and writes
``docs/benchmarks/desk.md``; ``--only start`` (or keys, memory, scrolling) measures one thing and writes nothing.
Everything is measured from outside, through a pseudo-terminal: from the bytes of the key going in to the bytes of the
next item coming out, the save with its fsync included. Variants run in turn (A B A B), and what counts is the ratio
within one run, because the machine is shared.
"""

from __future__ import annotations

import argparse
import compileall
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from annotate.protocols import load_protocol  # noqa: E402
from tests.tui.conftest import write_study  # noqa: E402
from tests.tui.terminal import Terminal  # noqa: E402

BARE = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("item-shown-0001")

Bare().run()
"""
STARTS = 15
BLOCKS, KEYS = 6, 25
MEMORY_LABELS = 5_000


def started(*command: str) -> tuple[float, float]:
    """Seconds from the start of a program to the bytes of its first item: by the clock, and of processor time."""
    begun = time.perf_counter()
    with Terminal(command=command) as program:
        program.wait_for("item-shown-0001")
        return time.perf_counter() - begun, processor_time(program.pid)


def processor_time(pid: int) -> float:
    """Seconds that all threads of a process have run."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def study(folder: Path, responses: int, **texts: str) -> Path:
    """A study of so many responses, all of them one coder's; each names its number."""
    items = [
        {"question": f"Question {n}?", "gold": ["g"], "text": f"item-shown-{n:04}", **texts}
        for n in range(1, responses + 1)
    ]
    return write_study(folder / f"study-{responses}.db", load_protocol("ehq"), items)


def desk_command(path: Path) -> tuple[str, ...]:
    return (sys.executable, "-m", "annotate", "code", str(path), "--coder", "ada")


def start_times(folder: Path) -> dict[str, list[tuple[float, float]]]:
    bare = folder / "bare.py"
    bare.write_text(BARE)
    path = study(folder, 60)
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "desk": []}
    for _ in range(STARTS):
        found["bare"].append(started(sys.executable, str(bare)))
        found["desk"].append(started(*desk_command(path)))
    return found


class Session:
    """A desk that is kept open, and the number of the item on it."""

    def __init__(self, path: Path, dwell: int = 300) -> None:
        self.terminal = Terminal(path, "ada", "--dwell", dwell)
        self.number = 1
        self.terminal.wait_for("item-shown-0001")
        time.sleep(0.5)

    def key(self) -> float:
        """Label an item; seconds until the next one has been written."""
        self.number += 1
        begun = time.perf_counter()
        self.terminal.keys("hw"[self.number % 2])
        self.terminal.wait_for(f"item-shown-{self.number:04}")
        return time.perf_counter() - begun

    def resident(self) -> int:
        """Kilobytes of memory that the program holds."""
        status = Path(f"/proc/{self.terminal.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def key_times(folder: Path) -> dict[int, list[float]]:
    sessions = {size: Session(study(folder, size)) for size in (1_000, 100_000)}
    found: dict[int, list[float]] = {size: [] for size in sessions}
    for _ in range(BLOCKS):
        for size, session in sessions.items():
            for _ in range(KEYS):
                found[size].append(session.key())
                time.sleep(0.4)
    for session in sessions.values():
        session.terminal.__exit__()
    return found


def memory(folder: Path) -> list[tuple[int, int]]:
    """(labels, kilobytes) at ten points of a long session."""
    session = Session(study(folder, MEMORY_LABELS + 10), dwell=0)
    found = []
    for number in range(1, MEMORY_LABELS + 1):
        session.key()
        session.terminal.output = b""
        session.terminal.mark = 0
        if number % (MEMORY_LABELS // 10) == 0:
            found.append((number, session.resident()))
    session.terminal.__exit__()
    return found


def scrolling(folder: Path) -> dict[str, list[float]]:
    """Seconds from Page Down to the next page, in a response of 100,000 characters and a document of a megabyte."""
    response = "".join(f"response line {n:05} with some words to fill it up\n" for n in range(2_000))
    document = "".join(f"d{n:06} " for n in range(125_000))
    path = write_study(folder / "long.db", load_protocol("ehq"), [{"context": document, "text": response}])
    found: dict[str, list[float]] = {"response of 100,000 characters": [], "document of 1 MB in one line": []}
    with Terminal(path, "ada") as terminal:
        terminal.wait_for("response line 00000")
        time.sleep(1)
        for name, into in (("response of 100,000 characters", ""), ("document of 1 MB in one line", "\x1b[Z")):
            terminal.keys(into)
            time.sleep(0.5)
            for _ in range(60):
                terminal.read(0.05)
                terminal.output = b""
                begun = time.perf_counter()
                terminal.keys(" ")
                terminal.wait_for_any()
                found[name].append(time.perf_counter() - begun)
    return found


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def milliseconds(values: list[float]) -> str:
    return f"{statistics.median(values) * 1000:.0f} / {percentile(values, 0.95) * 1000:.0f}"


HEAD = """# The desk: start, keys, memory, long texts

Measured {date} at commit {commit} by `benchmarks/desk.py`: {machine}, Python {python}, {cores} cores, load {load:.1f}.
From outside, through a pseudo-terminal of 120x40; variants in turn. The machine is shared: the ratios count, the
milliseconds show the order of magnitude.

| what | target | measured |
|---|---|---|
"""


def head() -> str:
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return HEAD.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        commit=git.stdout.strip(),
        machine=platform.platform(),
        python=platform.python_version(),
        cores=os.cpu_count(),
        load=os.getloadavg()[0],
    )


def start_rows(starts: dict[str, list[tuple[float, float]]]) -> list[tuple[str, str, str]]:
    """By the clock, which other work on the machine lengthens unevenly, and by processor time, which it does not."""
    rows = []
    for which, name in enumerate(("by the clock", "by processor time")):
        desk, bare = ([pair[which] for pair in starts[program]] for program in ("desk", "bare"))
        ratios = [one / other for one, other in zip(desk, bare, strict=True)]
        told = f"{statistics.median(ratios):.2f} times, the median of {len(ratios)} pairs"
        best = f"fastest of each {min(desk) / min(bare):.2f} ({min(desk) * 1000:.0f} against {min(bare) * 1000:.0f} ms)"
        rows.append(
            (
                f"`annotate code` to its first item, against a bare Textual app that shows one line, {name}",
                "at most 1.3 times",
                f"{told}; {best}",
            )
        )
    return rows


def key_rows(keys: dict[int, list[float]]) -> list[tuple[str, str, str]]:
    small, large = keys[1_000], keys[100_000]
    ratio = percentile(large, 0.95) / percentile(small, 0.95)
    return [
        (
            "key to next item written, save included, 100,000 responses in the study: p50 / p95 ms",
            "p95 under 50",
            f"{milliseconds(large)} (n {len(large)})",
        ),
        ("the same with 1,000 responses", "", f"{milliseconds(small)} (n {len(small)})"),
        ("the ratio of the two, p95", "under 1.5 times", f"{ratio:.2f} times"),
    ]


def memory_rows(used: list[tuple[int, int]]) -> list[tuple[str, str, str]]:
    """The caches of SQLite (2 MB of pages) and Textual fill first; what counts is what a label adds after that."""
    halfway = used[len(used) // 2 - 1]
    told = ", ".join(f"{size / 1024:.1f} MB after {labels:,}" for labels, size in (used[0], halfway, used[-1]))
    growth = (used[-1][1] - halfway[1]) / (used[-1][0] - halfway[0])
    return [(f"memory over {MEMORY_LABELS:,} labels", "flat", f"{told}: {growth:.2f} kB a label in the second half")]


def scroll_rows(scrolls: dict[str, list[float]]) -> list[tuple[str, str, str]]:
    return [
        (f"page down to next page, {name}: p50 / p95 ms", "no lag", milliseconds(values))
        for name, values in scrolls.items()
    ]


PARTS: dict[str, Callable[[Path], list[tuple[str, str, str]]]] = {
    "start": lambda folder: start_rows(start_times(folder)),
    "keys": lambda folder: key_rows(key_times(folder)),
    "memory": lambda folder: memory_rows(memory(folder)),
    "scrolling": lambda folder: scroll_rows(scrolling(folder)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="measure this alone and write nothing")
    only = parser.parse_args().only
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for package in ("annotate", "db", "tui"):
        compileall.compile_dir(ROOT / package, quiet=2)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [row for name, part in PARTS.items() if only in (None, name) for row in part(folder)]
    page = head() + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    print(page)
    if only is None:
        (ROOT / "docs" / "benchmarks" / "desk.md").write_text(page, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
