"""The sample studies of `annotate demo`: private copies, made from the data that ship, in a folder of the user's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from db.errors import AnnotateError

if TYPE_CHECKING:
    from db.records import Protocol
    from db.study import Study

CODER = "you"
EHQ, OPENQA = "ehq-demo", "openqa-demo"
DRAWN = 60
SEED = "42"


def demo_folder() -> Path:
    """Where the sample studies lie: the user's state folder, or a temporary one where that cannot hold a study."""
    from db.places import check_place

    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_STATE_HOME")
    folder = Path(base or Path.home() / ".local" / "state") / "annotate" / "demo"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_place(folder.resolve() / "study.db")
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, AnnotateError):
        pass
    return Path(tempfile.mkdtemp(prefix="annotate-demo-"))


def coding_study(folder: Path, *, fresh: bool = False) -> tuple[Path, bool]:
    """The EHQ sample study, ready to be coded by ``you``; and whether it was made now."""
    path = _place(folder, EHQ, fresh)
    if path.exists():
        return path, False
    from annotate.importing import Wanted, make_ready, run_import
    from annotate.protocols import load_protocol
    from annotate.sample_files import sample

    files = (sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz"))
    with _making(path, load_protocol("ehq"), "EHQ sample study (a demonstration)") as study:
        run_import(study, make_ready(Wanted(files, format="ehq")))
        _draw_and_assign(study)
    return path, True


def analysis_study(folder: Path, *, fresh: bool = False) -> tuple[Path, bool]:
    """The OpenQA sample study with the labels of its real coders and judges; and whether it was made now."""
    path = _place(folder, OPENQA, fresh)
    if path.exists():
        return path, False
    from annotate.importing import Wanted, make_ready, run_import
    from annotate.protocols import load_protocol
    from annotate.sample_files import sample

    with _making(path, load_protocol("correctness"), "OpenQA-eval, NQ301 (a demonstration)") as study:
        run_import(study, make_ready(Wanted((sample("openqa-nq301"),), recipe="openqa")))
    return path, True


def _place(folder: Path, name: str, fresh: bool) -> Path:
    """The study's path. ``fresh`` puts one that is there aside; what was coded in it is kept."""
    path = folder / f"{name}.db"
    if fresh and path.exists():
        number = 1
        while (aside := folder / f"{name}-{number}.db").exists():
            number += 1
        path.replace(aside)
    return path


@contextmanager
def _making(path: Path, protocol: Protocol, title: str) -> Iterator[Study]:
    """A new study that gets its name when it is whole."""
    from db.study import create_study

    with tempfile.TemporaryDirectory(prefix=".making-", dir=path.parent) as folder:
        partial = Path(folder) / path.name
        with create_study(partial, protocol, title=title) as study:
            yield study
        partial.replace(path)


def _draw_and_assign(study: Study) -> None:
    """A simple random sample for one coder. Nothing here needs numpy: the demonstration must open at once."""
    from db.assigning import assign
    from db.sampling import draw, strata_counts

    (everything,) = strata_counts(study, ()).strata
    draw(study, [replace(everything, drawn=DRAWN)], seed=SEED, by=(), allocation="proportional")
    assign(study, [CODER], seed=SEED)
