"""Every codebook that ships goes out in a pack and comes back: each label, rating, note and undo as it was given."""

from __future__ import annotations

from pathlib import Path

import pytest
from builder import seeded, small_study
from pack_builder import state

from annotate.protocols import load_protocol, parse_protocol
from db.coding import CodingSession
from db.connection import writing
from db.pack import open_pack
from db.pack_codebook import reader_of
from db.pack_make import make_pack
from db.pack_merge import merge_pack
from db.pack_read import read_pack
from db.records import Act, Protocol
from db.study import open_study

SHIPPED = ("alignment", "correctness", "ehq", "nas", "preference", "refusal", "wikiprofile")


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_given_there_is_what_stands_here(tmp_path: Path, name: str) -> None:
    protocol = load_protocol(name)
    home, there = small_study(tmp_path / "home.db", "A", codebook=protocol), tmp_path / "A.pack"
    with open_study(home) as study:
        with writing(study.connection) as connection:
            connection.execute("UPDATE responses SET choice = 'A', reason = 'because'")
            connection.execute("UPDATE items SET answer_key = 'A'")
            if protocol.pairwise:
                connection.execute("UPDATE responses SET text_b = 'b' || id, model_b = 'm9'")
                connection.execute("UPDATE assignments SET sides_swapped = id % 2")
        make_pack(study, "A", there, protocol, random_bytes=seeded(3))
    pack, given = open_pack(there), []
    with CodingSession.open(pack, pack.coder, reader_of(pack, parse_protocol), sealed=True) as desk:
        while (item := desk.next()) is not None:
            act = an_act(protocol, item.assignment, len(given), item.impossible)
            desk.save(act)
            desk.undo()
            desk.redo()
            given.append((item.assignment, act.label, act.rating, act.note))
        desk.save(Act("highlight", given[0][0], on=True))
    with open_study(home) as study:
        assert merge_pack(study, read_pack(there), parse_protocol).added == 3 * 6 + 1
    with CodingSession.open(home, "A", protocol) as desk:
        stands = [desk.annotation(uid) for uid, *_ in given]
    assert [(each.assignment, each.label, each.rating, each.note) for each in stands] == given
    assert state(home)


def an_act(protocol: Protocol, assignment: str, number: int, impossible: tuple[str, ...]) -> Act:
    """The labels by turns, with what they ask for."""
    if protocol.rating_only:
        return Act("rating", assignment, rating=50 + number)
    label = protocol.label_names[number % len(protocol.label_names)]
    rating = 70 if protocol.asks_rating(label) else None
    return Act("label", assignment, label=label, rating=rating, note="why" if label in impossible else None)
