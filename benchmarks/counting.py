"""How long does counting take, in how much memory, and do scores from cells cost the same at any size?

    python benchmarks/counting.py wikiprofile                  4.5 million graded responses, counted and scored
    python benchmarks/counting.py sizes --millions 1,10,100    Parquet of so many million, counted; their cells, scored

Each step is a command of its own, as a user would give it; memory is the peak of its process. Made corpora go to
--folder (5 GB for 100 million) and are removed afterwards, unless --keep.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MAP = (
    "item=item,model=model,condition=condition,repeat=repeat,category=stratum.category,response=response,gpt=judge.gpt"
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of the clock and of the processor, and the peak of memory in MB."""

    wall: float
    cpu: float
    memory: float

    def __str__(self) -> str:
        return f"{self.wall:.1f} s, {self.cpu:.1f} s of processor, {self.memory:,.0f} MB"


def cost(*words: object, out: Path | None = None) -> Cost:
    """Run a command of annotate in a process of its own. ``out``: where what it prints goes."""
    command = [sys.executable, "-m", "annotate", *map(str, words)]
    start = time.monotonic()
    with Path(out or os.devnull).open("wb") as file:
        process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=file)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def make(corpus: str, out: Path, *more: str) -> None:
    """Make a corpus in a process of its own: the peak of a child is at least what its parent holds when it starts."""
    subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "counting_corpus.py"), corpus, str(out), *more], check=True
    )


def load() -> str:
    return ", ".join(f"{each:.1f}" for each in os.getloadavg())


def wikiprofile(folder: Path) -> None:
    source, cells, study = folder / "wikiprofile.parquet", folder / "wp-cells.parquet", folder / "wp.db"
    make("wikiprofile", source)
    cost("init", study, "--protocol", "wikiprofile")
    print(f"load {load()}; {source.stat().st_size / 1e6:.1f} MB of Parquet")
    one = cost("count", source, "--protocol", "wikiprofile", "--out", cells, "--engine-option", "memory_limit=1GB")
    two = cost("impact", study, "--cells", cells, "--judge-only", "--target", "population", "--json")
    print(f"counted: {one}; {cells.stat().st_size / 1e6:.1f} MB of cells")
    print(f"scored with intervals: {two}")
    print(f"together: {one.wall + two.wall:.1f} s, {one.cpu + two.cpu:.1f} s of processor, load {load()}")


def sizes(folder: Path, millions: list[int], memory: str, keep: bool) -> None:
    study = folder / "graded.db"
    cost("init", study, "--protocol", "correctness")
    for size in millions:
        source, cells = folder / f"graded-{size}", folder / f"graded-{size}.parquet"
        make("graded", source, "--millions", str(size))
        bytes_ = sum(path.stat().st_size for path in source.iterdir())
        before = load()
        found = cost(
            "count", source, "--protocol", "correctness", "--map", MAP, "--out", cells,
            "--engine-option", f"memory_limit={memory}", "--engine-option", "threads=2",
        )  # fmt: skip
        score = cost("impact", study, "--cells", cells, "--judge-only", "--json")
        print(
            f"{size} million ({bytes_ / 1e6:.0f} MB, load {before}): {found}; {found.wall / size:.2f} s and "
            f"{found.cpu / size:.2f} s of processor a million; scores from its cells: {score}",
            flush=True,
        )
        if not keep:
            shutil.rmtree(source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["wikiprofile", "sizes"])
    parser.add_argument("--millions", default="1,10")
    parser.add_argument("--memory", default="4GB", help="DuckDB's memory_limit")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="annotate-counting-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if asked.what == "wikiprofile":
            wikiprofile(folder)
        else:
            sizes(folder, [int(each) for each in asked.millions.split(",")], asked.memory, asked.keep)
    finally:
        if not asked.keep and asked.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
