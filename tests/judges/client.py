"""A run of ``annotate judge`` in a process of its own, for tests that kill it or measure it.

``python -m tests.judges.client STUDY URL CONCURRENCY [FILE]``: with FILE, the resident memory in kB is written there
with the number of replies, about once in a thousand.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from annotate.judges import meter as meters
from annotate.judges.llm import LlmJudge, LlmOptions
from annotate.protocols import parse_protocol
from db.judging import JudgingStore


def resident() -> int:
    """Resident memory of this process in kB (Linux)."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def watch(file: Path) -> None:
    """Write the memory whenever the progress line is due and another thousand replies are stored."""
    seen = {"next": 1000}
    plain = meters.progress_line

    def line(meter: Any, rate: float) -> str:
        if meter.settled >= seen["next"]:
            seen["next"] = meter.settled + 1000
            with file.open("a", encoding="utf-8") as out:
                out.write(f"{meter.settled} {resident()}\n")
        return plain(meter, rate)

    meters.progress_line = line
    meters.FILE_SECONDS = 0.2


def main() -> None:
    study, url, concurrency = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if len(sys.argv) > 4:
        watch(Path(sys.argv[4]))
    host = url.split("/")[2]
    options = LlmOptions(model="gpt-4o-mini", base_url=url, concurrency=concurrency, yes_send_to=host)
    with JudgingStore(study) as store:
        found = store.protocol()
        assert found is not None
        judge = LlmJudge(store, "gpt", parse_protocol(found[2], found[1]), options)
        print(judge.run().as_json())


if __name__ == "__main__":
    main()
