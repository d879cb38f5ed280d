"""A codebook that changes while people code, and how blind a label is said to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from acts import events, label
from builder import protocol

from db.blindness import record_lead_view
from db.coding import CodingSession
from db.faults import ProtocolChanged, Refused
from db.lineage import change_protocol
from db.records import Act
from db.study import open_study


def test_a_changed_codebook_must_be_confirmed_and_leaves_touched_labels_stale(path: Path) -> None:
    new = protocol("codebook two")
    with CodingSession.open(path, "A", protocol()) as session:
        one, two = label(session, 1), label(session, 2, "HEDGE")
        with open_study(path) as study:
            assert change_protocol(study, new, change="substantive", touches={"labels": ["HEDGE"]}) == 1
            with pytest.raises(Refused, match="is version 2 of the study already"):
                change_protocol(study, new, change="editorial")
        third = session.item(3)
        assert third
        with pytest.raises(ProtocolChanged, match="changed meanwhile"):
            session.save(Act("label", third.assignment, label="WRONG"))
        session.adopt(new)
        pending = session.pending_confirmation()
        assert pending and (pending.confirmed.version, pending.current.version) == (1, 2)
        assert pending.current.touches == {"labels": ["HEDGE"]}
        with pytest.raises(ProtocolChanged, match="confirm"):
            session.save(Act("label", third.assignment, label="WRONG"))
        session.save(Act("confirm", None))
        assert session.pending_confirmation() is None
        assert session.progress.done == 1 and session.next() is not None
        assert session.next().assignment == two  # type: ignore[union-attr]
        assert session.annotation(two).stale and not session.annotation(one).stale
        assert session.queue_page(0, 2)[1].state == "stale"
        session.save(Act("label", two, label="HEDGE"))
        assert not session.annotation(two).stale and session.annotation(two).protocol_version == 2
        session.undo()
        assert session.annotation(two).stale  # the old label, and what it was given under, are back
    with pytest.raises(ProtocolChanged, match="another one than"):
        CodingSession.open(path, "A", protocol())


def test_a_change_can_touch_a_part_of_the_units_or_everything(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        for position in range(1, 7):
            label(session, position)
    with open_study(path) as study:
        where = [{"field": "category", "values": ["FEQ"]}]
        assert change_protocol(study, protocol("two"), change="substantive", touches={"where": where}) == 2
        assert change_protocol(study, protocol("three"), change="editorial") == 0
        assert change_protocol(study, protocol("four"), change="substantive") == 4


def blind(path: Path) -> list[str]:
    with open_study(path) as study:
        return [
            row[0]
            for row in study.connection.execute(
                "SELECT blindness FROM events WHERE kind = 'label' ORDER BY log_id, seq"
            )
        ]


def test_labels_are_masked_open_after_an_unmasking_and_sealed_in_a_browser(path: Path) -> None:
    with CodingSession.open(path, "A", protocol()) as session:
        assert session.blindness == "masked"
        label(session, 1)
        second = session.item(2)
        assert second
        session.save(Act("unmask", second.assignment))
        label(session, 2)
        label(session, 3)
        assert session.blindness == "masked"
        session.save(Act("unmask", None))
        label(session, 4)
        assert session.blindness == "open"
    with open_study(path) as study:
        record_lead_view(study, "agreement")
        record_lead_view(study, "agreement")
    with CodingSession.open(path, "B", protocol()) as session:
        assert session.blindness == "open"  # the account that ran it
        label(session, 1)
    with CodingSession.open(path, "B", protocol(), sealed=True, origin="browser") as session:
        assert session.blindness == "sealed"
        label(session, 2)
    assert blind(path) == ["masked", "open", "masked", "open", "open", "sealed"]
    assert [row[1] for row in events(path)].count("unmask") == 3
