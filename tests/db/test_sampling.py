"""Draws: reproducible by hand, exact in every stratum, nested, and with the right probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from builder import filled, protocol, seeded
from hypothesis import given
from hypothesis import strategies as st

from db.designs import _side_by_side
from db.faults import Refused
from db.imports import SourceFile, import_rows
from db.judge_maps import set_judge_mapping
from db.population import Member
from db.random_numbers import random_number, record_key
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, ResponseRow, UnitFilter
from db.samples import Sample, Stratum, current_sample
from db.sampling import StrataCounts, draw, strata_counts
from db.study import Study, create_study

# sha256sum of "42 <U+001F> item <U+001F> model <U+001F> condition <U+001F> repeat", first 16 digits
NUMBERS = {
    ("q1", "m1"): "6746ee6f84329ede",
    ("q1", "m2"): "7460b569a6346a68",
    ("q2", "m1"): "38c7d7ced00b8e48",
    ("q2", "m2"): "7ef87dc97c3d5612",
    ("q3", "m1"): "cf7dfa7f50da723b",
    ("q3", "m2"): "725823c6c06ee751",
    ("q4", "m1"): "48a08cc2656b97c5",
    ("q4", "m2"): "4fe929247f63b253",
    ("q5", "m1"): "a9c49a0a70bcd93c",
    ("q5", "m2"): "ab18d015f4de2f52",
    ("q6", "m1"): "ab84fd2e860c095f",
    ("q6", "m2"): "32d20ec913685693",
}


def take(counts: StrataCounts, sizes: Mapping[tuple[str, ...], int] | int) -> list[Stratum]:
    """The strata with so many of each (a number: that many of every one)."""
    return [
        replace(s, drawn=sizes if isinstance(sizes, int) else sizes.get(tuple(s.values.values()), 0))
        for s in counts.strata
    ]


def drawn(study: Study, sample: Sample) -> list[tuple[str, str, str, float]]:
    rows = study.connection.execute(
        "SELECT i.key, r.model, s.u, s.pi FROM sample_units s JOIN units u ON u.id = s.unit_id"
        " JOIN responses r ON r.id = u.response_id JOIN items i ON i.id = r.item_id WHERE s.sample_id = ? ORDER BY s.u",
        (sample.id,),
    )
    return [tuple(row) for row in rows]


@pytest.fixture
def six(tmp_path: Path) -> Study:
    """Six items (q1, q3, q5 HNQ, the others FEQ) with a response each of m1 and m2; nothing is a unit yet."""
    study = create_study(tmp_path / "six.db", protocol(), random_bytes=seeded(1))
    filled(study, 6)
    study.connection.execute("DELETE FROM units")
    return study


def test_numbers_are_those_of_the_definition() -> None:
    for (item, model), number in NUMBERS.items():
        assert random_number("42", record_key(item, model, "", 1)) == number
    assert random_number("42", "q1") == "41f67a629027ccd0"  # an item: its key alone


def test_a_draw_takes_the_smallest_numbers_of_each_stratum(six: Study) -> None:
    counts = strata_counts(six, ["model"])
    assert [(s.values, s.population) for s in counts.strata] == [({"model": "m1"}, 6), ({"model": "m2"}, 6)]
    sample = draw(six, take(counts, {("m1",): 2, ("m2",): 3}), seed=42, by=["model"], allocation="equal")
    # m1 sorted: q2 38c7, q4 48a0, q1 6746, ...; m2 sorted: q6 32d2, q4 4fe9, q3 7258, q1 7460, ...
    assert drawn(six, sample) == [
        ("q6", "m2", "32d20ec913685693", 3 / 6),
        ("q2", "m1", "38c7d7ced00b8e48", 2 / 6),
        ("q4", "m1", "48a08cc2656b97c5", 2 / 6),
        ("q4", "m2", "4fe929247f63b253", 3 / 6),
        ("q3", "m2", "725823c6c06ee751", 3 / 6),
    ]
    assert (sample.n, sample.population, sample.kind, sample.seed) == (5, 12, "draw", "42")
    assert [(s.values, s.population, s.drawn) for s in sample.strata] == [
        ({"model": "m1"}, 6, 2),
        ({"model": "m2"}, 6, 3),
    ]


def test_a_larger_draw_keeps_the_smaller_and_the_same_changes_nothing(six: Study) -> None:
    counts = strata_counts(six, ["model"])
    small = draw(six, take(counts, 2), seed=42, by=["model"], allocation="equal")
    ids = six.connection.execute("SELECT response_id, public_id FROM units ORDER BY id").fetchall()
    assert draw(six, take(counts, 2), seed=42, by=["model"], allocation="equal") == small
    large = draw(six, take(counts, 4), seed=42, by=["model"], allocation="equal")
    assert large.supersedes == small.id and current_sample(six) == large
    assert {row[:3] for row in drawn(six, small)} < {row[:3] for row in drawn(six, large)}
    assert {row[3] for row in drawn(six, large)} == {4 / 6}
    assert six.connection.execute("SELECT response_id, public_id FROM units ORDER BY id").fetchall()[:4] == ids
    with pytest.raises(Refused, match="only ever enlarged"):
        draw(six, take(counts, 3), seed=42, by=["model"], allocation="equal")


def test_the_draw_is_the_same_whatever_order_the_rows_came_in(tmp_path: Path) -> None:
    def build(name: str, step: int) -> list[tuple[str, str, str, float]]:
        with create_study(tmp_path / name, protocol()) as study:
            numbers = list(range(20))[::step]
            rows = [r for n in numbers for r in (ItemRow(f"q{n}", n, "Q?"), ResponseRow(f"q{n}", n, "A", model="m"))]
            import_rows(study, rows, format="t", sources=[SourceFile("a", "0" * 64, 1)])
            sample = draw(study, take(strata_counts(study, []), 5), seed=7, by=[], allocation="all")
            return drawn(study, sample)

    assert build("a.db", 1) == build("b.db", -1)


def test_whole_items_bring_all_their_responses(six: Study) -> None:
    counts = strata_counts(six, ["category"], unit="item")
    assert [(s.values["category"], s.population) for s in counts.strata] == [("FEQ", 3), ("HNQ", 3)]
    sample = draw(six, take(counts, 1), seed=42, by=["category"], unit="item", allocation="equal")
    # q1 41f6 < q3 beaf among HNQ (q5 is larger than q1: checked below); q4 2839 < q2 c793 among FEQ
    assert random_number("42", "q5") > "41f6" and random_number("42", "q6") > "2839"
    assert [row[:2] for row in drawn(six, sample)] == [("q4", "m1"), ("q4", "m2"), ("q1", "m1"), ("q1", "m2")]
    assert {row[3] for row in drawn(six, sample)} == {1 / 3} and sample.n == 2 and sample.population == 6
    with pytest.raises(Refused, match="Whole items cannot be drawn by model"):
        strata_counts(six, ["model"], unit="item")


def test_judge_labels_as_strata_with_unmapped_and_missing_ones(six: Study) -> None:
    rows = [
        JudgeLabelRow("gpt", f"q{n}", n, model="m1", raw=raw) for n, raw in enumerate(["yes", "yes ", "dunno", ""], 1)
    ]
    import_rows(six, rows, format="t", sources=[SourceFile("a", "0" * 64, 1)])
    set_judge_mapping(six, "gpt", {"yes": "CORRECT"}, "d1")
    counts = strata_counts(six, ["model", "judge_label"], judge="gpt")
    assert {tuple(s.values.values()): s.population for s in counts.strata} == {
        ("m1", "CORRECT"): 2,
        ("m1", "(not a label)"): 1,
        ("m1", "(missing)"): 3,  # one empty, two without a row
        ("m2", "(missing)"): 6,
    }
    draw(six, take(counts, 1), seed=42, by=["model", "judge_label"], judge="gpt", allocation="equal")
    set_judge_mapping(six, "gpt", {"yes": "CORRECT", "dunno": "ABSTAIN"}, "d2")
    again = strata_counts(six, ["model", "judge_label"], judge="gpt")
    with pytest.raises(Refused, match="the mapping of the judge's labels changed"):
        draw(six, take(again, 1), seed=42, by=["model", "judge_label"], judge="gpt", allocation="equal")
    with pytest.raises(Refused, match="no judge 'bert'"):
        strata_counts(six, ["judge_label"], judge="bert")


def test_two_draws_combine_by_the_union_formula(six: Study) -> None:
    first = draw(
        six, take(strata_counts(six, ["model"]), {("m1",): 2, ("m2",): 3}), seed=42, by=["model"], allocation="x"
    )
    by_category = strata_counts(six, ["category"])
    options = {"by": ["category"], "allocation": "x"}
    with pytest.raises(Refused, match="drawn with seed 42, not 7"):
        draw(six, take(by_category, 1), seed=7, **options)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="the stratum variables changed"):
        draw(six, take(by_category, 1), seed=42, **options)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="Seed 42 was used before"):
        draw(six, take(by_category, 1), seed=42, combine=True, **options)  # type: ignore[arg-type]
    both = draw(six, take(by_category, {("FEQ",): 1, ("HNQ",): 3}), seed=7, combine=True, **options)  # type: ignore[arg-type]
    assert both.combined and both.supersedes == first.id
    old = {row[:2] for row in drawn(six, first)}
    units = {row[:2]: row[3] for row in drawn(six, both)}
    assert old <= set(units)
    # chances: m1 2/6, m2 3/6; FEQ (q2, q4, q6) 1/6, HNQ (q1, q3, q5) 3/6
    chance = {("m1", 0): 1 - 4 / 6 * 5 / 6, ("m1", 1): 1 - 4 / 6 * 3 / 6, ("m2", 0): 1 - 3 / 6 * 5 / 6, ("m2", 1): 0.75}
    for (item, model), pi in units.items():
        assert pi == pytest.approx(chance[model, int(item[1:]) % 2], abs=1e-15)
    cells = {(s.values["draw 1"]["model"], s.values["draw 2"]["category"]): s.population for s in both.strata}
    assert cells == {("m1", "FEQ"): 3, ("m1", "HNQ"): 3, ("m2", "FEQ"): 3, ("m2", "HNQ"): 3}
    assert sum(s.drawn for s in both.strata) == len(units) == both.n
    # a third draw on top, and the probabilities again
    third = draw(six, take(strata_counts(six, []), 6), seed=9, by=[], combine=True, allocation="x")
    for row in drawn(six, third):
        before = chance[row[1], int(row[0][1:]) % 2]
        assert row[3] == pytest.approx(1 - (1 - before) * (1 - 6 / 12), abs=1e-15)


def test_responses_that_came_after_a_draw_had_no_chance_in_it(six: Study) -> None:
    draw(six, take(strata_counts(six, []), 6), seed=42, by=[], allocation="x")
    rows = [ItemRow("q7", 1, "Q?"), ResponseRow("q7", 1, "A", model="m1")]
    import_rows(six, rows, format="t", sources=[SourceFile("a", "0" * 64, 1)])
    both = draw(six, take(strata_counts(six, []), 13), seed=7, by=[], combine=True, allocation="x")
    told = {row[:2]: row[3] for row in drawn(six, both)}
    assert len(told) == 13 and set(told.values()) == {1.0}
    assert {(str(s.values["draw 1"]), s.population) for s in both.strata} == {("{}", 12), ("None", 1)}


def test_what_is_not_drawn_from_is_counted(tmp_path: Path) -> None:
    with create_study(tmp_path / "s.db", protocol()) as study:
        rows = [ItemRow("q1", 1, "Q?", answer_key="2")]
        rows += [
            ResponseRow("q1", n, "A", model=f"m{n}", choice=str(n % 3), failure="timeout" if n == 1 else None)
            for n in range(1, 7)
        ]  # type: ignore[misc]
        import_rows(study, rows, format="t", sources=[SourceFile("a", "0" * 64, 1)])
        study.connection.execute("UPDATE responses SET redacted_utc = 'x' WHERE model = 'm2'")
        counts = strata_counts(study, [], filters=[UnitFilter("choice_is_key")])
        # m1 failed, m2 (choice 2, the key) is redacted, m5 has the key; 3, 4, 6 do not
        assert counts.population == 1
        assert counts.excluded == {"technical failure": 1, "redacted": 1, "outside the protocol's filter": 3}
        assert strata_counts(study, [], with_failures=True).population == 5


def test_impossible_requests_are_refused_with_the_numbers(six: Study) -> None:
    counts = strata_counts(six, ["model"])
    with pytest.raises(Refused, match="7 units are asked of model m1, which has 6"):
        draw(six, take(counts, 7), seed=1, by=["model"], allocation="x")
    with pytest.raises(Refused, match="Nothing would be drawn"):
        draw(six, take(counts, 0), seed=1, by=["model"], allocation="x")
    with pytest.raises(Refused, match="changed since the strata were counted"):
        draw(six, take(counts, 1)[:1], seed=1, by=["model"], allocation="x")
    with pytest.raises(Refused, match="No response has a value of 'categroy'"):
        strata_counts(six, ["categroy"])
    assert current_sample(six) is None


def test_a_census_of_imported_labels_gives_way_only_when_told(six: Study) -> None:
    import_rows(
        six,
        [HumanLabelRow("A", "q1", 1, "WRONG", model="m1")],
        format="t",
        sources=[SourceFile("a", "0" * 64, 1)],
        protocol=protocol(),
    )
    strata = take(strata_counts(six, []), 3)
    with pytest.raises(Refused, match="The 1 labelled responses that were imported"):
        draw(six, strata, seed=1, by=[], allocation="x")
    assert draw(six, strata, seed=1, by=[], allocation="x", combine=True).kind == "draw"


@given(st.lists(st.sets(st.integers(0, 8), max_size=6), min_size=1, max_size=4))
def test_streams_are_merged_by_number_with_their_gaps(sets: list[set[int]]) -> None:
    merged = list(_side_by_side(iter([Member(n, ("k",), ()) for n in sorted(each)]) for each in sets))
    assert [n for n, _ in merged] == sorted(set().union(*sets))
    for number, found in merged:
        assert [member is not None for member in found] == [number in each for each in sets]
