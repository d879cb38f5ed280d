"""Changing the codebook in the middle of a study; what becomes stale is worked out by hand from who said what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotate.__main__ import run
from annotate.adjudicating import open_cases
from annotate.codebook_change import differences
from annotate.protocols import load_protocol, parse_protocol
from db.adjudicating import Decision
from db.coding import CodingSession
from db.faults import ProtocolChanged, Refused
from db.overview import coder_progress
from db.records import Act
from db.study import open_study
from db.verify import verify
from tests.tui.conftest import several, write_study

# Categories are HNQ, FEQ, HNQ by turns. Items 1 to 5 are labelled and the sixth is skipped.
SAID = ("HEDGE", "HEDGE", "ABSTAIN", "HEDGE", "WRONG")
TOML = load_protocol("ehq").toml


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = write_study(tmp_path / "study.db", load_protocol("ehq"), several(6))
    with CodingSession.open(path, "ada", load_protocol("ehq")) as session:
        for label in SAID:
            item = session.next()
            assert item is not None
            session.save(Act("label", item.assignment, label=label))
        item = session.next()
        assert item is not None
        session.save(Act("skip", item.assignment, reason="no reason of the list"))
    return path


def changed(tmp_path: Path, *pairs: tuple[str, str]) -> str:
    text = TOML
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "ehq.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def definition_of(label: str) -> str:
    return load_protocol("ehq").label(label).definition.strip().splitlines()[0]


def left(path: Path) -> tuple[int, int, int]:
    with open_study(path) as study:
        (ada,) = [each for each in coder_progress(study) if each.coder == "ada" and each.round == "main"]
    return ada.done, ada.stale, ada.left


def say(capsys: Any, *arguments: str) -> tuple[int, Any]:
    code = run(list(arguments))
    out = capsys.readouterr().out
    return code, json.loads(out) if out.startswith(("{", "[")) else out


def test_a_diff_names_what_differs_and_what_it_touches(study: Path, tmp_path: Path, capsys: Any) -> None:
    new = changed(tmp_path, (definition_of("HEDGE"), "A hedge is another thing now."))
    code, facts = say(capsys, "protocol", "diff", str(study), new, "--json")
    assert code == 0
    assert [(d["what"], d["may_change_labels"]) for d in facts["differences"]] == [("HEDGE: definition", ["HEDGE"])]
    assert (facts["change"], facts["stale"], facts["by_coder"]) == ("substantive", 3, {"ada": 3})
    assert {unit["item"] for unit in facts["units"]} == {"q1", "q2", "q4"}
    assert left(study) == (5, 0, 1)  # a diff changes nothing


def test_an_anchor_is_told_in_words() -> None:
    before = load_protocol("nas")
    after = parse_protocol(before.toml.replace("has nothing to do with it", "is about something else"), "nas")
    (found,) = differences(before, after)
    assert found.what == "rating: anchors"
    assert found.before.endswith("low 0, high 0, text has nothing to do with it")
    assert found.after.endswith("low 0, high 0, text is about something else")


def test_a_change_that_may_touch_labels_is_not_made_without_being_told_which(
    study: Path, tmp_path: Path, capsys: Any
) -> None:
    new = changed(tmp_path, (definition_of("HEDGE"), "A hedge is another thing now."))
    assert say(capsys, "protocol", "update", str(study), new)[0] == 2
    assert left(study) == (5, 0, 1)


def test_only_touched_labels_of_the_named_units_come_back(study: Path, tmp_path: Path, capsys: Any) -> None:
    new = changed(tmp_path, (definition_of("HEDGE"), "A hedge is another thing now."))
    code, facts = say(
        capsys, "protocol", "update", str(study), new, "--substantive", "--where", "category=FEQ", "--json"
    )
    assert code == 0 and facts["stale"] == 1  # of the three hedges only item 2 is of category FEQ
    assert left(study) == (4, 1, 2)
    after = parse_protocol(Path(new).read_text(encoding="utf-8"), "ehq")
    with CodingSession.open(study, "ada", after) as session:
        item = session.next()
        assert item is not None and item.position == 2
        with pytest.raises(ProtocolChanged, match="confirm"):
            session.save(Act("label", item.assignment, label="HEDGE"))
        session.save(Act("confirm", None))
        session.save(Act("label", item.assignment, label="WRONG", note="it asserts"))
    assert left(study) == (5, 0, 1)
    with open_study(study) as opened:
        assert [c for c in verify(opened).checks if c.broken and c.name != "imports"] == []


def test_a_touch_of_everything_leaves_skips_alone_and_the_record_whole(
    study: Path, tmp_path: Path, capsys: Any
) -> None:
    new = changed(tmp_path, ('instructions = """', 'instructions = """\nRead everything twice.'))
    code, facts = say(capsys, "protocol", "update", str(study), new, "--substantive", "--json")
    assert (code, facts["stale"]) == (0, 5)
    with open_study(study) as opened:
        assert [c for c in verify(opened).checks if c.broken and c.name != "imports"] == []


def test_an_editorial_change_keeps_every_label(study: Path, tmp_path: Path, capsys: Any) -> None:
    new = changed(tmp_path, (definition_of("HEDGE"), "A hedge, said in better words."))
    code, facts = say(capsys, "protocol", "update", str(study), new, "--editorial", "--json")
    assert (code, facts["stale"], facts["version"]) == (0, 0, 2)
    assert left(study) == (5, 0, 1)
    code, versions = say(capsys, "protocol", "diff", str(study), "--json")
    assert [(v["version"], v["change"], v["differences"]) for v in versions] == [
        (1, "initial", []),
        (2, "editorial", ["HEDGE: definition"]),
    ]


def test_a_stale_final_label_is_to_be_decided_again_and_its_coders_may_code_again(
    study: Path, tmp_path: Path, capsys: Any
) -> None:
    with open_cases(study, "Lea", everything=True) as session:
        units = {session.case(unit).item.question: unit for unit in session.queue().units}
        for unit in session.queue().units:
            session.decide(unit, Decision("HEDGE", reason="slip"))
        assert session.queue().decided == 5 and units
    new = changed(tmp_path, (definition_of("HEDGE"), "A hedge is another thing now."))
    _code, facts = say(capsys, "protocol", "update", str(study), new, "--substantive", "--json")
    assert (facts["stale"], facts["stale_finals"]) == (8, 5)  # three of ada's, five finals
    after = parse_protocol(Path(new).read_text(encoding="utf-8"), "ehq")
    with CodingSession.open(study, "ada", after) as coder:
        coder.save(Act("confirm", None))
        for _ in range(3):
            item = coder.next()
            assert item is not None
            coder.save(Act("label", item.assignment, label="WRONG", note="it asserts"))
    with open_cases(study, "Lea", everything=True) as session:
        assert session.queue().decided == 0
    assert left(study) == (5, 0, 1)


def test_mistakes_are_refused_in_one_line(study: Path, tmp_path: Path, capsys: Any) -> None:
    new = changed(tmp_path, (definition_of("HEDGE"), "A hedge is another thing now."))
    for wrong in (
        ("--substantive", "--labels", "MAYBE"),
        ("--substantive", "--where", "category=NONE"),
        ("--substantive", "--where", "category"),
    ):
        assert say(capsys, "protocol", "update", str(study), new, *wrong)[0] == 2
    assert say(capsys, "protocol", "update", str(study), "nas", "--substantive")[0] == 2
    assert left(study) == (5, 0, 1)


def test_coders_of_an_adjudicated_unit_still_cannot_change_a_label_that_is_not_stale(study: Path) -> None:
    with open_cases(study, "Lea", everything=True) as session:
        session.decide(session.queue().units[0], Decision("HEDGE", reason="slip"))
        decided = session.case(session.queue().units[0]).item.question
    with CodingSession.open(study, "ada", load_protocol("ehq")) as coder:
        refused = 0
        for position in range(1, 6):
            item = coder.item(position)
            assert item is not None
            try:
                coder.save(Act("label", item.assignment, label="ABSTAIN"))
            except Refused:
                refused += 1
                assert item.question == decided
    assert refused == 1
