"""Packs under a passphrase: nothing is readable at rest, nothing is lost in between."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from builder import protocol, small_study
from pack_builder import QuickAge, bring, code, labels, pack, session

from db.connection import is_encrypted, is_pack
from db.errors import AnnotateError
from db.faults import BadRequest, IsPack, Refused, SessionTaken, StudyError
from db.leases import packs_out
from db.pack import open_pack
from db.pack_merge import merge_pack
from db.pack_read import read_pack
from db.pack_vault import Vault, WrongPassphrase, has_working_copy
from db.records import Act
from db.study import open_study

WORDS = "correct horse battery staple"


@pytest.fixture(autouse=True)
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The age format itself costs half a second each time: one test has it."""
    if "real" in request.node.name:
        pytest.importorskip("pyrage", reason="needs the extra [passphrase]")
    else:
        monkeypatch.setattr("db.pack_vault._age", QuickAge)


def ask(name: str) -> str:
    return WORDS


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return small_study(tmp_path / "home.db", "A", "B")


@pytest.fixture
def ada(home: Path) -> Path:
    return pack(home, passphrase=WORDS).path


def files(path: Path) -> set[str]:
    """Every file beside the pack."""
    side = path.with_name(f"{path.name}.d")
    return {str(each.relative_to(side)) for each in side.rglob("*") if each.is_file()}


def test_at_rest_nothing_can_be_read_and_a_session_goes_on_from_it(home: Path, ada: Path) -> None:
    assert is_encrypted(ada) and is_pack(ada) and stat.S_IMODE(ada.stat().st_mode) == 0o600
    assert b"Question" not in ada.read_bytes() and b"SQLite" not in ada.read_bytes()
    with Vault(ada, ask) as vault:
        assert stat.S_IMODE(vault.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(vault.path.parent.stat().st_mode) == 0o700
        code(vault.path, "wh", note="a note of mine")
        with session(vault.path) as desk:
            item = desk.next()
            assert item
            desk.set_draft(item.assignment, "not sent yet")
        assert has_working_copy(ada)
    assert files(ada) == set() and not has_working_copy(ada)
    for word in (b"note of mine", b"not sent", b"Question", b"SQLite"):
        assert word not in ada.read_bytes()
    with Vault(ada, ask) as vault, session(vault.path) as desk:
        assert desk.progress.done == 2 and desk.draft(item.assignment) == "not sent yet"
        desk.set_draft(item.assignment, None)
        desk.undo()
    with Vault(ada, ask) as vault, session(vault.path) as desk:
        assert desk.progress.done == 1 and desk.draft(item.assignment) is None
    with open_study(home) as study:
        before = sorted(home.parent.iterdir())
        assert merge_pack(study, read_pack(ada, ask), lambda text, name: protocol()).added == 3
        assert sorted(home.parent.iterdir()) == before and files(ada) == set()  # decrypted in memory alone
    assert labels(home)[:2] == ["WRONG", None]


def test_a_session_that_was_killed_is_gone_on_from_and_wants_the_passphrase(
    home: Path, ada: Path, tmp_path: Path
) -> None:
    vault = Vault(ada, ask)
    code(vault.path, "ww")
    with pytest.raises(SessionTaken, match="already being coded"):
        Vault(ada, ask)
    vault._held.release()  # the process is dead
    assert has_working_copy(ada)
    with pytest.raises(WrongPassphrase, match="does not open it, or the file was changed"):
        Vault(ada, lambda name: "something else")
    with Vault(ada, ask) as again:
        code(again.path, "h")
    assert files(ada) == set()
    assert len(read_pack(ada, ask).rows) == 3


def test_what_a_killed_session_left_is_not_written_over_another_pack(home: Path, ada: Path) -> None:
    older = Path(shutil.copy(ada, ada.with_name("older.pack")))
    with Vault(ada, ask) as vault:
        code(vault.path, "w")
    newer = Path(shutil.copy(ada, ada.with_name("newer.pack")))
    vault = Vault(ada, ask)
    code(vault.path, "h")
    vault._held.release()
    for other in (pack(home, "B", passphrase=WORDS).path,):
        content = ada.read_bytes()
        shutil.copy(other, ada)
        with pytest.raises(Refused, match="does not go on from there"):
            Vault(ada, ask)
        ada.write_bytes(content)
    shutil.copy(older, ada)  # the pack that lies there is behind: the working copy goes on from it
    with Vault(ada, ask):
        pass
    assert len(read_pack(ada, ask).rows) == 2
    assert len(read_pack(newer, ask).rows) == 1


def test_where_it_cannot_be_encrypted_again_nothing_is_lost(
    home: Path, ada: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    vault = Vault(ada, ask)
    code(vault.path, "w")
    with monkeypatch.context() as broken:
        broken.setattr("db.pack_vault._replace", full)
        with pytest.raises(StudyError, match=r"No space left .*nothing is lost"):
            vault.close()
    assert has_working_copy(ada)
    with Vault(ada, ask):
        pass
    assert len(read_pack(ada, ask).rows) == 1


@pytest.mark.slow
def test_real_age_any_flipped_byte_is_refused(home: Path, ada: Path) -> None:
    whole = ada.read_bytes()
    assert whole.startswith(b"age-encryption.org/v1\n-> scrypt ") and len(read_pack(ada, ask).items) == 6
    for place in (3, len(whole) // 2, len(whole) - 1):
        content = bytearray(whole)
        content[place] ^= 1
        ada.write_bytes(content)
        with pytest.raises(AnnotateError):
            read_pack(ada, ask)
    ada.write_bytes(whole[:-100])
    with pytest.raises(WrongPassphrase):
        read_pack(ada, ask)


def test_a_short_passphrase_leases_nothing(home: Path) -> None:
    with pytest.raises(BadRequest, match="too short"):
        pack(home, passphrase="short")
    with open_study(home) as study:
        assert packs_out(study) == ()


def test_it_is_no_study_and_no_plain_pack(home: Path, ada: Path) -> None:
    for opened in (open_study, open_pack):
        with pytest.raises(IsPack, match="is an encrypted pack"):
            opened(ada)
    with pytest.raises(IsPack):
        bring(home, ada)
    with Vault(ada, ask) as vault, session(vault.path) as desk:
        assert desk.save(Act("unmask", None)).kind == "unmask"
