"""Reading: cells that add up to every response, units with their design, and labels with all that is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from builder import protocol, seeded

from db.assigning import assign
from db.coding import CodingSession
from db.corpus import corpus_cells, response_rows
from db.faults import Refused
from db.imports import SourceFile, import_rows
from db.judge_maps import mapping_digests, set_judge_mapping
from db.labels import label_rows, unit_rows
from db.lineage import change_protocol
from db.overview import study_counts
from db.population import strata_fields
from db.records import Act, HumanLabelRow, ImportRow, ItemRow, JudgeLabelRow, JudgeRule, ResponseRow
from db.sampling import draw, strata_counts
from db.study import Study, create_study

RAW = ["CORRECT", " WRONG\n", "nonsense", ""]  # for q1 to q4 by turns; nothing at all for q5


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Ten items, two models; the response of m2 to q10 failed; judge gpt labelled nine of ten of m1 only."""
    rows: list[ImportRow] = []
    for n in range(1, 11):
        rows.append(ItemRow(f"q{n}", n, f"Q{n}", answer_key="2", strata={"category": ("FEQ", "HNQ")[n % 2]}))
        for model in ("m1", "m2"):
            failure = "timeout" if (n, model) == (10, "m2") else None
            choice = "2" if n <= 4 else "3" if n <= 6 else None
            extra = {"thinking": n % 2}
            rows.append(ResponseRow(f"q{n}", n, "A", model=model, choice=choice, failure=failure, extra=extra))
        if n != 5:
            rows.append(JudgeLabelRow("gpt", f"q{n}", n, model="m1", raw=RAW[(n - 1) % 4], score=n / 10))
    with create_study(tmp_path / "s.db", protocol(), random_bytes=seeded(1)) as made:
        import_rows(made, rows, format="t", sources=[SourceFile("a", "0" * 64, 1)], protocol=protocol())
        yield made


def table(study: Study, *columns: str) -> dict[tuple[object, ...], int]:
    cells = corpus_cells(study, columns)
    assert sum(cells.counts) == 20 and cells.columns == columns
    return dict(zip(cells.rows, cells.counts, strict=True))


def test_cells_count_every_response_by_what_is_asked_for(study: Study) -> None:
    assert table(study) == {(): 20}
    assert table(study, "model", "technical") == {("m1", 0): 10, ("m2", 0): 9, ("m2", 1): 1}
    assert table(study, "category") == {("FEQ",): 10, ("HNQ",): 10}
    assert table(study, "choice_is_key") == {(None,): 8, (0,): 4, (1,): 8}
    assert table(study, "extra:thinking") == {(0,): 10, (1,): 10}
    assert table(study, "no such field") == {(None,): 20}


def test_judge_labels_are_mapped_with_rows_for_what_is_none(study: Study) -> None:
    # q1, q6, q10 are CORRECT, WRONG, WRONG ...: RAW by turns over n - 1
    said = Counter(RAW[(n - 1) % 4] for n in range(1, 11) if n != 5)
    assert table(study, "judge:gpt") == {
        ("CORRECT",): said["CORRECT"],
        ("WRONG",): said[" WRONG\n"],
        ("(not a label)",): said["nonsense"],
        ("(missing)",): said[""] + 1 + 10,
    }
    assert table(study, "raw:gpt")[" WRONG\n",] == said[" WRONG\n"]
    assert table(study, "model", "score:gpt")["m1", 0.3] == 1
    with pytest.raises(Refused, match="no judge 'bert'"):
        corpus_cells(study, ["judge:bert"])


def test_rows_come_in_the_order_of_the_import_and_cells_sorted(study: Study) -> None:
    assert list(response_rows(study, ["item", "model"]))[:3] == [("q1", "m1"), ("q1", "m2"), ("q2", "m1")]
    assert list(corpus_cells(study, ["choice", "model"]).rows) == [
        (None, "m1"),
        (None, "m2"),
        ("2", "m1"),
        ("2", "m2"),
        ("3", "m1"),
        ("3", "m2"),
    ]
    assert corpus_cells(study, ["model"]).column("model") == ["m1", "m2"]
    assert strata_fields(study.connection) == ("category",)


def drawn(study: Study, n: int, seed: int, by: list[str], **more: object) -> None:
    judge = "gpt" if "judge_label" in by else None
    strata = [replace(s, drawn=min(n, s.population)) for s in strata_counts(study, by, judge=judge).strata]
    draw(study, strata, seed=seed, by=by, judge=judge, allocation="x", **more)  # type: ignore[arg-type]


def test_the_design_stratum_of_every_response_is_that_of_the_drawn_ones(study: Study) -> None:
    assert table(study, "stratum") == {(None,): 20}
    drawn(study, 2, 1, ["model", "judge_label"])
    one = dict(zip(*_pair(study), strict=True))
    for unit in unit_rows(study):
        assert one[unit.item, unit.model] == unit.stratum
    assert one["q10", "m2"] is None  # a technical failure could not be drawn
    assert one["q5", "m1"] == '{"judge_label":"(missing)","model":"m1"}'
    drawn(study, 3, 2, ["category"], combine=True)
    both = dict(zip(*_pair(study), strict=True))
    for unit in unit_rows(study):
        assert both[unit.item, unit.model] == unit.stratum
    assert both["q1", "m1"] == '{"draw 1":{"judge_label":"CORRECT","model":"m1"},"draw 2":{"category":"HNQ"}}'


def _pair(study: Study) -> tuple[list[tuple[str, str]], list[str | None]]:
    rows = list(response_rows(study, ["item", "model", "stratum"]))
    return [row[:2] for row in rows], [row[2] for row in rows]


def test_a_census_knows_the_stratum_of_its_own_units_only(study: Study) -> None:
    labels = [HumanLabelRow("A", "q1", 1, "WRONG", model="m1"), HumanLabelRow("A", "q2", 2, "WRONG", model="m2")]
    import_rows(study, labels, format="t", sources=[SourceFile("b", "1" * 64, 1)], protocol=protocol())
    assert table(study, "stratum") == {(None,): 18, ("{}",): 2}
    assert [(u.item, u.model, u.stratum, u.pi) for u in unit_rows(study)] == [
        ("q1", "m1", "{}", 1.0),
        ("q2", "m2", "{}", 1.0),
    ]


def test_units_bring_further_columns_and_labels_all_that_is_known_of_them(study: Study) -> None:
    drawn(study, 3, 1, ["model"])
    assign(study, ["Ann", "Bob"], seed=1, overlap=0.5)
    with CodingSession.open(study.path, "Ann", protocol()) as session:
        first, second = session.item(1), session.item(2)
        assert first and second
        session.save(Act("label", first.assignment, label="WRONG", note="why not", active_ms=1500))
        session.save(Act("flag", first.assignment, flag="question"))
        session.save(Act("skip", second.assignment, reason="in my words"))
    rows = list(label_rows(study, kind="main"))
    ann = [row for row in rows if row.coder == "Ann"]
    assert (ann[0].label, ann[0].note, ann[0].flags, ann[0].active_ms) == ("WRONG", "why not", ("question",), 1500)
    assert (ann[0].state, ann[1].state, ann[1].skip_reason, ann[2].state) == (
        "done",
        "skipped once",
        "in my words",
        "open",
    )
    assert (ann[0].blindness, ann[0].origin, ann[0].round, ann[0].pseudonym) == (
        "masked",
        "terminal",
        "main",
        "coder-1",
    )
    # half of 6 units is overlap: 3 units for both, 3 more dealt out; pi2 is what each stratum (of 3) gave
    assert Counter(row.overlap for row in rows) == {True: 6, False: 3}
    assert {row.pi2 for row in rows} == {1 / 3, 2 / 3}
    units = unit_rows(study, ["category", "judge:gpt", "choice_is_key"])
    assert len(units) == 6 and all(unit.pi == (3 / 10 if unit.model == "m1" else 3 / 9) for unit in units)
    assert {unit.unit for unit in units} == {row.unit for row in rows}
    assert all(unit.values[0] == ("FEQ", "HNQ")[int(unit.item[1:]) % 2] for unit in units)
    assert list(label_rows(study, round_name="training")) == []
    counts = study_counts(study)
    assert (counts.items, counts.responses, counts.failures, counts.sampled, counts.labelled) == (10, 20, 1, 6, 1)
    (gpt,) = counts.judges
    assert (gpt.labels, gpt.responses, gpt.not_labels, gpt.missing) == (9, 9, 2, 2)


def test_a_new_codebook_brings_its_judge_mappings(study: Study) -> None:
    rules = (JudgeRule("gpt", {"nonsense": "HEDGE", " WRONG ": "WRONG"}, "digest two"),)
    change_protocol(study, protocol("two", judges=rules), change="editorial")
    assert mapping_digests(study.connection) == {"gpt": "digest two"}
    assert table(study, "judge:gpt")["HEDGE",] == 2
    assert set_judge_mapping(study, "gpt", {"nonsense": "HEDGE", "WRONG": "WRONG"}, "digest two") is False
    assert study.connection.execute("SELECT count(*) FROM judge_mappings").fetchone() == (2,)
    change_protocol(study, protocol("three"), change="editorial")  # says nothing of gpt: what is in force stays
    assert mapping_digests(study.connection) == {"gpt": "digest two"}
