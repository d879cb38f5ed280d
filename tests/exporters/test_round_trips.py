"""What is written in the form of another tool reads back as the same labels on the same responses."""

from __future__ import annotations

import json
import stat
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotate.exporters import Unit, exporter_names, get_exporter, group_rows
from annotate.exporters.argilla import user_id
from annotate.exporters.label_studio import interface
from annotate.importers import prepare, recognise
from annotate.protocols import load_protocol
from db.errors import AnnotateError
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, Reject, ResponseRow

ReadBack = Callable[[Path], list[Any]]
Label = tuple[str, str, str, str | None]


def write(name: str, units: list[Unit], path: Path, **how: Any) -> Any:
    return get_exporter(name).write(units, path, protocol=load_protocol("correctness"), **how)


def labels(rows: list[Any]) -> set[Label]:
    return {(row.coder, row.item, row.model, row.label) for row in rows if isinstance(row, HumanLabelRow)}


def given(units: list[Unit]) -> set[Label]:
    return labels([row for unit in units for row in unit.people])


@pytest.mark.parametrize("name", ["label_studio", "prodigy", "doccano"])
def test_labels_and_texts_come_back_the_same(name: str, units: list[Unit], tmp_path: Path, read_back: ReadBack) -> None:
    path = tmp_path / f"out{get_exporter(name).suffix}"
    written = write(name, units, path)
    assert (written.units, written.people) == (3, 5)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert recognise(path).name == name
    rows = read_back(path)
    assert not [row for row in rows if isinstance(row, Reject)]
    assert labels(rows) == given(units)
    texts = {(row.item, row.model, row.text) for row in rows if isinstance(row, ResponseRow)}
    assert texts == {(unit.item.key, unit.response.model, unit.response.text) for unit in units}
    item = next(row for row in rows if isinstance(row, ItemRow))
    assert (item.key, item.question, item.context, item.gold) == (
        "q1",
        "Where is it?",
        "A map.",
        ("Landover", "Maryland"),
    )
    note = next(row for row in rows if isinstance(row, HumanLabelRow) and row.coder == "Ann")
    assert note.note == "sure\n“quite”"


def test_label_studio_keeps_ratings_times_final_labels_and_judges(
    units: list[Unit], tmp_path: Path, read_back: ReadBack
) -> None:
    path = tmp_path / "tasks.json"
    assert write("label_studio", units, path).judges == 1
    rows = read_back(path)
    ann = next(row for row in rows if isinstance(row, HumanLabelRow) and row.coder == "Ann")
    assert (ann.active_ms, ann.utc) == (4500, None)  # only one of this task's three labels has a time
    timed = Unit(units[0].item, units[0].response, units[0].people[:1])
    write("label_studio", [timed], tmp_path / "timed.json")
    assert read_back(tmp_path / "timed.json")[-1].utc == "2026-11-30T15:28:49.000Z"
    assert next(row.rating for row in rows if isinstance(row, HumanLabelRow) and row.model == "m2") == 40
    assert {row.coder: row.role for row in rows if isinstance(row, HumanLabelRow)}["final"] == "adjudicator"
    judge = next(row for row in rows if isinstance(row, JudgeLabelRow))
    assert (judge.judge, judge.raw, judge.score, judge.rationale) == ("gpt", "CORRECT", 0.75, "It is.")


def test_argilla_knows_people_by_an_id_and_names_them_beside(units: list[Unit], tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    assert write("argilla", units, path).judges == 1
    rows = list(prepare([path], options={"question_name": "label"}).rows)
    expected = {(user_id(coder), item, model, label) for coder, item, model, label in given(units) if label is not None}
    assert labels(rows) == expected
    record = json.loads(path.read_text(encoding="utf-8"))[0]
    assert record["metadata"][f"coder_{user_id('Ann')}"] == "Ann"
    assert record["suggestions"]["label"]["agent"] == "gpt"


@pytest.mark.parametrize("name", exporter_names())
def test_blind_exports_name_no_model_and_no_judge(name: str, units: list[Unit], tmp_path: Path) -> None:
    path = tmp_path / "out"
    bare = [Unit(unit.item, unit.response, (), unit.judges) for unit in units]
    write(name, bare, path, blind=True)
    text = path.read_text(encoding="utf-8")
    for word in ('"m1"', '"m2"', "gpt", "0.75", "It is."):
        assert word not in text


@pytest.mark.parametrize("name", exporter_names())
def test_the_same_units_give_the_same_bytes_and_none_gives_an_empty_file(
    name: str, units: list[Unit], tmp_path: Path
) -> None:
    for path in (tmp_path / "one", tmp_path / "two"):
        write(name, units, path)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert write(name, [], tmp_path / "none").units == 0


def test_a_failed_export_leaves_what_was_there(units: list[Unit], tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("before", encoding="utf-8")

    def breaks() -> Any:
        yield units[0]
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        write("prodigy", breaks(), path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_interface_for_label_studio_offers_the_protocols_labels() -> None:
    root = ET.fromstring(interface(load_protocol("alignment")))
    assert [choice.get("value") for choice in root.iter("Choice")] == ["ABSTAIN", "HEDGE", "CORRECT", "WRONG"]
    assert [(number.get("min"), number.get("max")) for number in root.iter("Number")] == [("0", "100")]


def test_rows_of_an_import_are_units(shared_data: Path) -> None:
    job = prepare([shared_data / "formats/inspect_ai/2025-05-12T20-28-26-04-00_security-guide.json"])
    grouped = list(group_rows(row for row in job.rows if not isinstance(row, Reject)))
    assert [unit.item.key for unit in grouped] == [f"security_guide/{i}" for i in (1, 2, 3)]
    assert all(len(unit.judges) == 1 for unit in grouped)
    with pytest.raises(ValueError, match="does not follow its response"):
        list(group_rows([HumanLabelRow("A", "q", 1, "X")]))


def test_an_unknown_form_suggests_the_nearest() -> None:
    with pytest.raises(AnnotateError, match="no export in the form 'prodgy'") as caught:
        get_exporter("prodgy")
    assert caught.value.hint == "Did you mean 'prodigy'?"


# --- inspect_ai, through its own API -----------------------------------------------------------------------


def test_labels_go_into_a_log_through_inspect_ais_own_api(shared_data: Path, tmp_path: Path) -> None:
    log_api = pytest.importorskip("inspect_ai.log")
    from annotate.exporters.inspect_ai import write_scores

    folder = shared_data / "formats" / "inspect_ai"
    for name in (
        "2025-05-12T20-28-26-04-00_security-guide.json",
        "2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval",
    ):
        source = folder / name
        units = [
            Unit(unit.item, unit.response, (HumanLabelRow("Ann", unit.item.key, 0, "CORRECT", note="seen", rating=80),))
            for unit in group_rows(row for row in prepare([source]).rows if not isinstance(row, Reject))
        ]
        out = tmp_path / name
        before = source.read_bytes()
        written = write_scores(source, out, units)
        assert written.people == written.units == len(units)
        assert source.read_bytes() == before
        for sample in log_api.read_eval_log(str(out)).samples:
            score = sample.scores["annotate/Ann"]
            assert (score.value, score.explanation) == ("CORRECT", "seen")
            assert (score.history[-1].provenance.author, score.history[-1].provenance.reason) == (
                "Ann",
                "labelled in annotate",
            )
        again = [row for row in prepare([out]).rows if isinstance(row, JudgeLabelRow) and row.judge == "annotate/Ann"]
        assert [row.raw for row in again] == ["CORRECT"] * len(units)
        with pytest.raises(AnnotateError, match="already a file"):
            write_scores(source, out, units)


def test_without_inspect_ai_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from annotate.exporters.inspect_ai import write_scores

    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(AnnotateError, match="needs inspect_ai, which is not installed"):
        write_scores(tmp_path / "log.eval", tmp_path / "out.eval", [])


# --- Label Studio, by its own library --------------------------------------------------------------------


def test_label_studios_own_library_accepts_the_interface_and_the_tasks(units: list[Unit], tmp_path: Path) -> None:
    sdk = pytest.importorskip("label_studio_sdk.label_interface")
    converter = pytest.importorskip("label_studio_sdk.converter")
    config = interface(load_protocol("correctness"))
    labels_of = sdk.LabelInterface(config)
    labels_of.validate()
    path = tmp_path / "tasks.json"
    write("label_studio", [unit for unit in units if unit.people[0].rating is None], path)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    for task in tasks:
        assert labels_of.validate_task({"data": task["data"]})
        assert all(labels_of.validate_annotation(annotation) for annotation in task["annotations"])
    # Its converter reads the same choices out of the file that annotate wrote.
    (tmp_path / "out").mkdir()
    converted = converter.Converter(config, str(tmp_path / "out"), download_resources=False)
    converted.convert_to_json_min(str(path), str(tmp_path / "out"), is_dir=False)
    flat = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert [entry.get("label") for entry in flat] == ["CORRECT", "WRONG", "CORRECT"]
