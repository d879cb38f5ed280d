"""Archives are read without unpacking them to disk, and what could do harm is refused before it is read."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.importers import archive, prepare
from annotate.importers.archive import open_archive
from db.errors import AnnotateError

Write = Callable[[str, str | bytes], Path]


def packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["../evil.json", "/etc/passwd", "samples/../../x", "..\\x", "C:/x"])
def test_a_name_that_points_outside_is_refused(write: Write, name: str) -> None:
    path = write("a.eval", packed({"header.json": b"{}", name: b"{}"}))
    with pytest.raises(AnnotateError, match="points outside the archive"), open_archive(path):
        pass


def test_a_bomb_is_refused_before_it_is_unpacked(write: Write) -> None:
    path = write("a.eval", packed({"header.json": b"{}", "samples/1_epoch_1.json": b" " * 50_000_000}))
    with pytest.raises(AnnotateError, match="packed too tightly"):
        list(prepare([path], format="inspect_ai").rows)


def test_a_member_that_is_too_large_or_too_many_are_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a.eval", packed({"header.json": b"{}", "b": b"0123456789" * 300_000}))
    monkeypatch.setattr(archive, "MOST_MEMBER_BYTES", 1 << 20)
    with pytest.raises(AnnotateError, match="b unpacks to 2 MB"), open_archive(path):
        pass
    monkeypatch.setattr(archive, "MOST_MEMBERS", 1)
    with pytest.raises(AnnotateError, match="2 files in one archive"), open_archive(path):
        pass


def test_a_member_that_lies_about_its_size_gives_no_more_than_it_states(write: Write) -> None:
    """The stated size is patched in both headers: the content ends there and its checksum fails."""
    content = packed({"header.json": b'{"a": "' + b"x" * 5000 + b'"}'})
    lied = content.replace(struct.pack("<I", 5009), struct.pack("<I", 100))
    path = write("a.eval", lied)
    with open_archive(path) as opened, pytest.raises(AnnotateError, match=r"header\.json is damaged"):
        opened.read("header.json")


def test_an_encrypted_member_and_a_broken_archive_are_named(write: Write) -> None:
    content = bytearray(packed({"header.json": b"{}"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    with pytest.raises(AnnotateError, match="is encrypted"), open_archive(write("a.eval", bytes(content))):
        pass
    with (
        pytest.raises(AnnotateError, match="not a whole zip archive"),
        open_archive(write("b.eval", b"PK\x03\x04nothing")),
    ):
        pass


def test_nothing_is_written_to_disk(write: Write, tmp_path: Path, shared_data: Path) -> None:
    source = next((shared_data / "formats" / "inspect_ai").glob("*.eval"))
    path = write("only/a.eval", source.read_bytes())
    list(prepare([path]).rows)
    assert [p.name for p in (tmp_path / "only").iterdir()] == ["a.eval"]
