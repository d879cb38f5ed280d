"""Formats by name, by content and by plug-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from annotate.importers import Request, Tally, format_names, get_importer, prepare, recognise, registry
from db.errors import AnnotateError
from db.records import ItemRow

Write = Callable[[str, str | bytes], Path]


class Plugged:
    name = "plugged"
    title = "a format of somebody's own"
    protocol = ""
    options = {"colour": "of the thing"}

    def recognises(self, path: Path, start: bytes) -> bool:
        return start.startswith(b"PLUGGED")

    def sources(self, request: Request) -> Sequence[Path]:
        return request.files

    def rows(self, request: Request, tally: Tally) -> Iterator[ItemRow]:
        tally.count(0)
        yield ItemRow("1", 1, request.option("colour"))


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = EntryPoints(
        [
            EntryPoint("plugged", "tests_plugged:Plugged", registry.GROUP),
            EntryPoint("broken", "no_such_module:Thing", registry.GROUP),
        ]
    )
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    monkeypatch.setattr(EntryPoint, "load", lambda self: Plugged if self.name == "plugged" else _raise())


def _raise() -> None:
    raise ModuleNotFoundError("No module named 'no_such_module'")


def test_a_plug_in_is_found_by_name_and_by_content(
    write: Write, plugged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("a.csv", "PLUGGED")
    assert "plugged" in format_names()
    job = prepare([path], format="plugged", options={"colour": "red"})
    assert [row.question for row in job.rows if isinstance(row, ItemRow)] == ["red"]
    with pytest.raises(AnnotateError, match="has no option 'color'") as caught:
        prepare([path], format="plugged", options={"color": "red"})
    assert caught.value.hint == "Did you mean 'colour'?"
    entries = EntryPoints([EntryPoint("plugged", "tests_plugged:Plugged", registry.GROUP)])
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    assert recognise(path).name == "plugged"


def test_a_broken_plug_in_is_named(plugged: None) -> None:
    with pytest.raises(AnnotateError, match=r"The plug-in 'broken' .* could not be loaded"):
        get_importer("broken")


def test_an_unknown_format_suggests_the_nearest(write: Write) -> None:
    with pytest.raises(AnnotateError, match="no format 'tabel'") as caught:
        get_importer("tabel")
    assert caught.value.hint == "Did you mean 'table'?"
    with pytest.raises(AnnotateError, match="format is not recognised"):
        recognise(write("a.bin", b"\x00\x01\x02"))


def test_a_missing_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(AnnotateError, match="there is no such file"):
        prepare([tmp_path / "no.csv"])
    with pytest.raises(AnnotateError, match="No file was given"):
        prepare([])


def test_files_of_the_same_name_are_told_apart_by_their_folder() -> None:
    tally = Tally([Path("a/x.csv"), Path("b/x.csv"), Path("y.csv")])
    assert tally.names == ("a/x.csv", "b/x.csv", "y.csv")
