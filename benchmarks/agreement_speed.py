"""Speed and peak memory of the agreement engine against other libraries, in one run, and the page that reports it.

    python benchmarks/agreement_speed.py --peers FOLDER [--setup] [--quick]

FOLDER holds an environment per peer (FOLDER/NAME/bin/python); --setup makes them from PyPI. Both sides of a pair get
the same values in the same form, label coding included, and take turns (A B A B); the page gives the best of the
rounds (other work on the machine only ever adds) and the ratio peer / ours.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks" / "agreement.md"
PEERS = ("krippendorff", "scikit-learn", "statsmodels", "judgepanel", "truescore", "evalaudit", "irrCAC")
SIZES = (1_000, 10_000, 100_000, 1_000_000)
SLOW = 8.0
"""A peer that took longer than this, in seconds, is not asked for the next size."""


@dataclass(frozen=True)
class Comparison:
    """task: its name on both sides. target: least ratio wanted, at the sizes of `at`."""

    task: str
    peer: str
    coders: tuple[int, ...] = (2, 5)
    sizes: tuple[int, ...] = SIZES
    target: float = 1.0
    at: tuple[int, ...] = SIZES


COMPARISONS = (
    Comparison("alpha", "krippendorff", target=2.0),
    Comparison("alpha", "truescore", sizes=SIZES[:3]),
    Comparison("alpha, long frame", "evalaudit", sizes=SIZES[:3]),
    Comparison("fleiss", "judgepanel"),
    Comparison("fleiss, complete", "statsmodels"),
    Comparison("fleiss, frame", "irrCAC"),
    Comparison("cohen", "truescore", coders=(2,), target=10.0, at=SIZES[3:]),
    Comparison("cohen", "scikit-learn", coders=(2,)),
    Comparison("cohen with se and interval", "statsmodels", coders=(2,)),
    Comparison("cohen, lists", "evalaudit", coders=(2,)),
    Comparison("cohen, lists", "judgepanel", coders=(2,)),
    Comparison("cohen, all pairs", "truescore", coders=(5,)),
    Comparison("bootstrap alpha, long frame", "evalaudit", coders=(2,), sizes=(300, 10_000), target=25.0, at=(10_000,)),
    Comparison("bootstrap kappa", "scikit-learn", coders=(2,), sizes=(300, 10_000), target=25.0, at=(10_000,)),
    Comparison("interval alpha", "krippendorff", coders=(2,), sizes=(1_000, 10_000)),
)
SMALL_BOOTSTRAP_TARGET = 2.0
EXPLANATION = (
    "Both sides get the same values in the same form, labels are coded inside the call, sides take turns (A B A B); "
    "best of seven rounds (three where a call takes over a second). Ratio is peer / ours: above 1 we are faster. "
    "Four labels; 20 % of ratings missing where the peer takes gaps (`complete`, `cohen` and `lists` have none). "
    "Fleiss by the convention of the peer (`fleiss`: pooled). Values agree on every row to 1e-9 (irrCAC gives five "
    "digits); of bootstraps only the estimate is compared. Peers give the value alone and so do we there; rows `with "
    "se and interval` add those, which of the peers only statsmodels gives. Bootstraps: 2,000 draws."
)


class Side:
    """A worker process in the environment of one library."""

    def __init__(self, name: str, python: Path) -> None:
        self.name = name
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent) if name == "ours" else ""}
        self.process = subprocess.Popen(
            [str(python), str(HERE / "agreement_speed_worker.py"), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        self.tasks = self._read()["tasks"]

    def _read(self) -> Any:
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise SystemExit(f"{self.name}: the worker ended with code {self.process.wait()}")
        return json.loads(line)

    def ask(self, **request: Any) -> Any:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._read()

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def measure(ours: Side, peer: Side, comparison: Comparison, n: int, coders: int, rounds: int) -> dict[str, Any]:
    request = {"task": comparison.task, "n": n, "coders": coders}
    warm = [side.ask(**request) for side in (ours, peer)]  # imports on first use, caches, the shared input
    warm = [side.ask(**request) for side in (ours, peer)]
    repeats = [min(max(int(0.02 / max(answer["seconds"], 1e-6)), 1), 300) for answer in warm]
    rounds = 3 if max(answer["seconds"] for answer in warm) > 1 else rounds
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for side, seconds, repeat in zip((ours, peer), times, repeats, strict=True):
            seconds.append(side.ask(**request, repeat=repeat)["seconds"])
    mine, theirs = (min(seconds) for seconds in times)
    wanted = comparison.target if n in comparison.at else 1.0
    if comparison.task.startswith("bootstrap") and n == 300:
        wanted = SMALL_BOOTSTRAP_TARGET
    return {
        **request,
        "peer": comparison.peer,
        "ours": mine,
        "theirs": theirs,
        "ratio": theirs / mine,
        "target": wanted,
        "value": warm[0]["value"],
        "peer value": warm[1]["value"],
    }


def memory(python: Path, name: str, task: str, n: int, coders: int) -> dict[str, Any]:
    """Peak resident memory of a fresh process: after the input is made, and after one call."""
    side = Side(name, python)
    answer = side.ask(task=task, n=n, coders=coders)
    side.close()
    return {"task": task, "n": n, "coders": coders, "side": name, **answer}


def setup(folder: Path) -> None:
    for name in PEERS:
        if not (folder / name / "bin" / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
            subprocess.run([str(folder / name / "bin" / "pip"), "install", "-q", name], check=True)


def versions(folder: Path) -> dict[str, str]:
    found = {}
    for name in PEERS:
        code = f"import importlib.metadata as m; print(m.version({name!r}), m.version('numpy'))"
        out = subprocess.run(
            [str(folder / name / "bin" / "python"), "-c", code], capture_output=True, text=True, check=True
        )
        found[name] = "{} (numpy {})".format(*out.stdout.split())
    return found


def run_times(ours: Side, folder: Path, quick: bool) -> list[dict[str, Any]]:
    results = []
    for comparison in COMPARISONS:
        peer = Side(comparison.peer, folder / comparison.peer / "bin" / "python")
        for coders in comparison.coders:
            for n in comparison.sizes[: 2 if quick else None]:
                result = measure(ours, peer, comparison, n, coders, 7)
                results.append(result)
                print(json.dumps(result), flush=True)
                if result["theirs"] > SLOW:
                    break
        peer.close()
    return results


MEMORY = (
    ("alpha", "krippendorff"),
    ("fleiss", "judgepanel"),
    ("cohen", "truescore"),
    ("cohen, all pairs", "truescore"),
    ("alpha with se and interval", None),
    ("interval alpha", None),
)


def run_memory(folder: Path) -> list[dict[str, Any]]:
    results = []
    for task, peer in MEMORY:
        coders = 2 if task == "cohen" else 5
        results.append(memory(Path(sys.executable), "ours", task, 1_000_000, coders))
        if peer:
            results.append(memory(folder / peer / "bin" / "python", peer, task, 1_000_000, coders))
    results.append(memory(Path(sys.executable), "ours", "interval alpha", 10_000, 2))
    results.append(memory(folder / "krippendorff" / "bin" / "python", "krippendorff", "interval alpha", 10_000, 2))
    results.append(memory(Path(sys.executable), "ours", "bootstrap alpha, long frame", 10_000, 2))
    results.append(
        memory(folder / "evalaudit" / "bin" / "python", "evalaudit", "bootstrap alpha, long frame", 10_000, 2)
    )
    return results


def duration(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def page(
    times: Iterable[dict[str, Any]], peaks: Iterable[dict[str, Any]], imports: float, names: dict[str, str]
) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE, check=True
    )
    lines = [
        "# Speed of the agreement engine",
        "",
        *textwrap.wrap(
            f"Written by `benchmarks/agreement_speed.py` at commit {commit.stdout.strip()} on "
            f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores ({platform.machine()}), "
            f"Python {platform.python_version()}, numpy {numpy_version()}. " + EXPLANATION,
            118,
        ),
        "",
        "| quantity | peer | coders | units | ours | peer | ratio | wanted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in times:
        met = "" if row["ratio"] >= row["target"] else " (missed)"
        cells = (
            row["task"],
            row["peer"],
            str(row["coders"]),
            f"{row['n']:,}",
            duration(row["ours"]),
            duration(row["theirs"]),
            f"{row['ratio']:.3g}",
            f"{row['target']:g}{met}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "## Peak memory",
        "",
        "Resident memory of a fresh process: once the input is made (interpreter, libraries, input), and at its peak.",
        "",
        "| quantity | side | coders | units | with input | peak |",
        "|---|---|---|---|---|---|",
    ]
    for row in peaks:
        cells = (
            row["task"],
            row["side"],
            str(row["coders"]),
            f"{row['n']:,}",
            f"{row['loaded']:.0f} MB",
            f"{row['peak']:.0f} MB",
        )
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "## Import",
        "",
        f"`import agreement` in a fresh interpreter takes {imports:.3f} s (median of seven).",
        "",
    ]
    lines += ["## Versions", "", *(f"- {name} {version}" for name, version in names.items()), ""]
    return "\n".join(lines)


def numpy_version() -> str:
    import numpy

    return numpy.__version__


def import_seconds() -> float:
    code = "import time; t = time.perf_counter(); import agreement; print(time.perf_counter() - t)"
    runs = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, cwd=HERE.parent, check=True
            ).stdout
        )
        for _ in range(7)
    ]
    return statistics.median(runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--setup", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the two smallest sizes, printed only")
    arguments = parser.parse_args()
    if arguments.setup:
        setup(arguments.peers)
    imports = import_seconds()
    ours = Side("ours", Path(sys.executable))
    times = run_times(ours, arguments.peers, arguments.quick)
    ours.close()
    odd = [row for row in times if abs(row["value"] - row["peer value"]) > (5e-6 if row["peer"] == "irrCAC" else 1e-9)]
    if odd:
        raise SystemExit(f"values differ: {odd}")
    if not arguments.quick:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(times, run_memory(arguments.peers), imports, versions(arguments.peers)), encoding="utf-8")


if __name__ == "__main__":
    main()
