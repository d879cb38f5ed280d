"""Every way in which a pack that comes back is refused, and what cannot be detected."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builder import assigned, protocol, seeded, small_study
from pack_builder import at_home, bring, code, first_key_of, labels, pack, refused, rewrite, state, tamper

from db.faults import DamagedStudy, NewerStudy, Refused
from db.pack_check import Altered
from db.pack_merge import Conflicts, OlderPack
from db.study import create_study, open_study

HEADS = {
    "question": "UPDATE items SET question = 'Another?' WHERE id = 1",
    "gold": "UPDATE items SET gold = '[\"1\"]' WHERE id = 1",
    "rules": "UPDATE items SET strata = '{}' WHERE id = 3",
    "response": "UPDATE responses SET text = 'Better' WHERE id = 1",
    "order": "UPDATE assignments SET position = 99 WHERE id = 1",
    "sides": "UPDATE assignments SET sides_swapped = 1 WHERE id = 1",
    "exchanged": "UPDATE units SET response_id = CASE response_id WHEN 1 THEN 2 ELSE 1 END + 10 WHERE id < 3",
    "name": "UPDATE coders SET name = 'Somebody'",
    "codebook": "UPDATE protocols SET toml = toml || ' '",
    "id": "UPDATE assignments SET uid = 'aaaaaaaaaaaa' WHERE id = 6",
    "item less": "DELETE FROM assignments WHERE id = 6",
    "code": "UPDATE pack SET code = '00'",
}


@pytest.mark.parametrize("part", HEADS)
def test_a_changed_head_is_refused(home: Path, ada: Path, part: str) -> None:
    code(ada, "w")
    tamper(ada, "PRAGMA foreign_keys = OFF", HEADS[part])
    if part == "exchanged":
        tamper(ada, "UPDATE units SET response_id = response_id - 10 WHERE id < 3")
    refused(home, ada, "its content is not what was packed")


ACTS = {
    "label": (
        """UPDATE events SET body = '{"label":"HEDGE"}' WHERE seq = 1""",
        "hash does not hold",
        Refused,
    ),
    "hash": (
        "UPDATE events SET hash = (SELECT hash FROM events WHERE seq = 2) WHERE seq = 1",
        "row 1: it is not",
        Altered,
    ),
    "code": (
        "UPDATE seals SET code = (SELECT code FROM seals WHERE seq = 2) WHERE seq = 1",
        "row 1: it is not",
        Altered,
    ),
    "no code": ("DELETE FROM seals WHERE seq = 3", "row 3: it is not sealed", Altered),
    "cut off": ("DELETE FROM events WHERE seq = 3", "acts are missing at its end", Altered),
    "cut off with code": (
        "DELETE FROM events WHERE seq = 3; DELETE FROM seals WHERE seq = 3",
        "missing at its",
        Altered,
    ),
    "gap": ("DELETE FROM events WHERE seq = 2; DELETE FROM seals WHERE seq = 2", "row 2: it is not", Altered),
    "order": (
        "UPDATE events SET seq = 9 WHERE seq = 1; UPDATE events SET seq = 1 WHERE seq = 2;"
        "UPDATE events SET seq = 2 WHERE seq = 9",
        "row 1: it is not",
        Altered,
    ),
    "time": ("UPDATE events SET utc = '1999-01-01' WHERE seq = 2", "hash does not hold", Refused),
    "level": ("UPDATE events SET blindness = 'open' WHERE seq = 1", "hash does not hold", Refused),
    "key": ("UPDATE pack SET ratchet = x'00'", "its key was changed", Altered),
    "note": ("UPDATE texts SET text = 'other words'", "words of its note", Refused),
    "log": ("UPDATE logs SET uid = 'bbbbbbbbbbbb'", "its content is not what was packed", Altered),
    "study": ("UPDATE study SET uid = 'another'", "belongs to another study", Refused),
    "coder": ("UPDATE coders SET uid = 'another'", "its content is not what was packed", Altered),
    "version": ("UPDATE protocols SET version = 7", "codebook .version 7. that this study does not know", Refused),
    "digest": ("UPDATE protocols SET digest = 'x'", "codebook .version 1. that this study does not know", Refused),
    "format": ("UPDATE pack SET format = 2", "pack of another version", NewerStudy),
    "nothing in it": ("DELETE FROM pack", "damaged", DamagedStudy),
    "no log": ("DELETE FROM logs", "damaged", DamagedStudy),
    "no table": ("DROP TABLE seals", "there is no table seals", DamagedStudy),
}


@pytest.mark.parametrize("part", ACTS)
def test_changed_acts_are_refused(home: Path, ada: Path, part: str) -> None:
    code(ada, "wah", note="n")
    statements, match, kind = ACTS[part]
    tamper(ada, "PRAGMA foreign_keys = OFF", *statements.split(";"))
    refused(home, ada, match, kind)


def test_the_tail_that_was_merged_cannot_be_taken_back(home: Path, ada: Path) -> None:
    """An older state is honest by itself, codes and all; the study remembers that it has seen more."""
    code(ada, "w")
    older = Path(shutil.copy(ada, ada.with_name("older.pack")))
    code(ada, "h")
    bring(home, ada)
    told = refused(home, older, "holds 1 acts, but this pack came back with 2 before", OlderPack)
    assert "older state" in str(told)
    code(older, "a")  # and goes on from there: two acts, the second another one
    refused(home, older, r"row 2: another label stands here at that place: a fork", Refused)


def test_another_study(home: Path, ada: Path, tmp_path: Path) -> None:
    with create_study(tmp_path / "other.db", protocol(), random_bytes=seeded(77)):
        pass
    refused(tmp_path / "other.db", ada, "belongs to another study", Refused)


def test_a_study_that_was_restored_from_before_it_was_packed_knows_its_pack_by_the_code(home: Path) -> None:
    backup = Path(shutil.copy(home, home.with_name("backup.db")))
    there = pack(home).path
    code(there, "wh", note="n")
    later = Path(shutil.copy(backup, home.with_name("later.db")))
    bring(backup, there)
    assert labels(backup)[:3] == ["WRONG", "HEDGE", None]
    once = state(backup)
    assert bring(backup, there)[0].added == 0 and state(backup) == once
    code(there, "a")
    bring(backup, there)
    assert labels(backup)[:3] == ["WRONG", "HEDGE", "ABSTAIN"]
    at_home(later)  # the coder has gone on in the restored one
    refused(later, there, "coded here, too", Conflicts)
    before = small_study(home.with_name("before.db"), "B")  # from before these items were A's
    refused(before, there, "does not know the items of this pack", Refused)


def with_key(home: Path, path: Path, change: object) -> None:
    """A coder who kept the first copy, and so its key, and writes the log anew with another program."""
    first = Path(shutil.copy(path, path.with_name("first.pack")))
    code(path, "wah")
    rewrite(path, change, key=first_key_of(first))  # type: ignore[arg-type]


FORGED = {
    "label": (lambda n, e: e["body"].update(label="MAYBE"), "'MAYBE' is not a label of this codebook"),
    "no label": (lambda n, e: e["body"].pop("label"), "None is not a label"),
    "rating": (lambda n, e: e["body"].update(rating=3), r"says more than it may .rating"),
    "more": (lambda n, e: e["body"].update(model="m1"), r"says more than it may .model"),
    "kind": (lambda n, e: e["row"].update(kind="verdict"), "'verdict' is nothing that a coder does"),
    "lead": (lambda n, e: e["row"].update(kind="merge"), "'merge' is nothing that a coder does"),
    "origin": (lambda n, e: e["row"].update(origin="lead"), "not written at the coding desk"),
    "level": (lambda n, e: e["row"].update(blindness="masked"), "not written at the coding desk"),
    "session": (lambda n, e: e["row"].update(fence=5 - n), "an earlier session"),
    "note": (lambda n, e: e["body"].update(note="words"), "note is no digest"),
    "no unit": (lambda n, e: e["row"].update(unit="dddddddddddd"), "hash does not hold|names no item"),
}


@pytest.mark.parametrize("part", FORGED)
def test_acts_that_the_codebook_or_the_desk_does_not_allow_are_refused(home: Path, ada: Path, part: str) -> None:
    change, match = FORGED[part]
    with_key(home, ada, change)
    refused(home, ada, match, Refused)


def test_an_item_that_was_not_in_the_pack_is_refused(home: Path) -> None:
    """Somebody with the key adds an item of the coder's that stayed at home, under its true id."""
    there = pack(home, batch=1).path
    with open_study(home) as study:
        assigned(study, "A", round_name="second", units=1)
        (uid,) = study.connection.execute("SELECT uid FROM assignments WHERE round = 'second'").fetchone()
    first = Path(shutil.copy(there, there.with_name("first.pack")))
    code(there, "w")
    tamper(there, "PRAGMA foreign_keys = OFF", f"UPDATE assignments SET uid = '{uid}' WHERE id = 1")
    rewrite(there, lambda n, e: e["row"].update(unit=uid), key=first_key_of(first))
    refused(home, there, "its content is not what was packed")


def test_what_is_not_detected_a_coder_who_keeps_the_first_copy_and_codes_anew(home: Path, ada: Path) -> None:
    """The threat model says so: the first copy holds the first key, and who has it can begin again."""
    first = Path(shutil.copy(ada, ada.with_name("first.pack")))
    code(ada, "www")
    code(first, "aaa")
    bring(home, first)
    assert labels(home)[:3] == ["ABSTAIN"] * 3
    refused(home, ada, "a fork", Refused)  # only where the other state was merged before does it show
