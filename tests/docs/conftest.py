"""Studies that the pages' blocks work on, made once."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.__main__ import run
from tests.docs.pages import REPOSITORY, study
from tests.docs.runner import Runner

COLUMNS = "question_id=item,model=model,coder=coder,label=label"


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``studies("coded")``: the sample study imported (``ehq``), drawn and dealt (``dealt``), or coded (``coded``)."""
    folder = tmp_path_factory.mktemp("studies")

    def made(name: str) -> Path:
        path = folder / f"{name}.db"
        if not path.exists():
            _make(name, path, made)
        return path

    return made


def _make(name: str, path: Path, made: Callable[[str], Path]) -> None:
    from annotate.sample_files import sample

    if name == "ehq":
        items, records = sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")
        _quietly("init", path, "--protocol", "ehq", "--title", "EHQ sample")
        _quietly("import", path, "--items", items, "--records", records)
        return
    shutil.copy(made("ehq"), path)
    _quietly("sample", path, "--n", 120, "--seed", 42)
    if name == "dealt":
        _quietly("assign", path, "--coders", "Ada,Ben")
    else:
        assert name == "coded", name
        _quietly("import", path, sample("ehq-run", "simulated_coders.csv"), "--map", COLUMNS, "--simulated")


def _lead_files(folder: Path, coded: Path) -> None:
    """What a lead brings along: known labels of responses that are not drawn, and a changed codebook."""
    import annotate

    draw = folder / "draw.db"
    shutil.copy(coded, draw)
    _quietly("sample", draw, "--n", 300, "--seed", 42)
    with annotate.open_study(draw) as study:
        labels = study.labels
    draw.unlink()
    spare = labels[labels["pi"].isna()].drop_duplicates(["item", "model"])
    for name, start in (("known.csv", 0), ("checks.csv", 10)):
        rows = spare.iloc[start : start + 10][["item", "model", "label"]].assign(explanation="the codebook's example")
        rows.to_csv(folder / name, index=False)
    text = (REPOSITORY / "annotate" / "protocols" / "ehq.toml").read_text(encoding="utf-8")
    for old, new in (
        ("version = 1", 'version = 2\nname = "ehq"'),
        ("may, might, probably", "may, might, could, probably"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "new.toml").write_text(text, encoding="utf-8")


def _quietly(*arguments: object) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        code = run([str(argument) for argument in arguments])
    assert code == 0, err.getvalue()


@pytest.fixture
def reader(studies: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Runner]:
    """Makes the folder that a page's blocks run in: with ``study.db`` where the page says ``<!-- run in: NAME -->``."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    def make(page: Path) -> Runner:
        folder = tmp_path / "reader"
        folder.mkdir()
        if name := study(page):
            shutil.copy(studies("ehq" if name == "lead" else name), folder / "study.db")
        if name == "lead":
            _lead_files(folder, studies("coded"))
        return Runner(folder)

    return make
