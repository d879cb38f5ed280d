"""The shipped recipes on the published files: every trap in them is handled, and the published numbers come out.

The expected numbers are the publications' (or counted from the files by their authors' own rules); kappa is computed
here from its definition, on the rows as they leave the recipe.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotate.importers import ImportJob, prepare_recipe
from annotate.protocols import load_protocol
from annotate.recipes import load_recipe, parse_recipe, shipped_recipes
from db.errors import AnnotateError
from db.imports import import_rows
from db.judge_maps import rule_for
from db.records import HumanLabelRow, ItemRow, JudgeLabelRow, Reject, ResponseRow

Kappa = Callable[[Sequence[tuple[str, str]]], float]
Write = Callable[[str, str | bytes], Path]


class Read:
    """A job's rows by kind, with labels addressed by the number of their response in the file."""

    def __init__(self, job: ImportJob) -> None:
        self.job, self.rows = job, list(job.rows)
        self.responses = [row for row in self.rows if isinstance(row, ResponseRow)]
        self.rejects = [row for row in self.rows if isinstance(row, Reject)]
        self.human: dict[str, dict[int, str]] = {}
        self.judges: dict[str, dict[int, JudgeLabelRow]] = {}
        number = -1
        for row in self.rows:
            if isinstance(row, ResponseRow):
                number += 1
            elif isinstance(row, HumanLabelRow) and row.label:
                self.human.setdefault(row.coder, {})[number] = row.label
            elif isinstance(row, JudgeLabelRow):
                self.judges.setdefault(row.judge, {})[number] = row

    def mapped(self, judge: str, protocol: str, other: str | None) -> dict[int, str]:
        """The judge's labels by the protocol's mapping; what is none becomes ``other`` (None: left out)."""
        rule = rule_for(load_protocol(protocol), judge)
        raws = {number: row.raw.strip() for number, row in self.judges[judge].items() if row.raw and row.raw.strip()}
        labels = {number: rule.mapping.get(raw, other) for number, raw in raws.items()}
        return {number: label for number, label in labels.items() if label is not None}


def together(first: dict[int, str], second: dict[int, str]) -> list[tuple[str, str]]:
    return [(first[number], second[number]) for number in sorted(first.keys() & second.keys())]


# --- openqa -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def openqa(shared_data: Path) -> Read:
    return Read(prepare_recipe("openqa", [shared_data / "openqa-nq301"]))


def test_openqa_accounts_for_every_row_and_counts_the_known_differences(openqa: Read) -> None:
    assert openqa.job.tally.read == [1490, 1490, 1490, 1490]
    assert len(openqa.responses) == 1490
    assert openqa.rejects == []
    assert len({row.key for row in openqa.rows if isinstance(row, ItemRow)}) == 301
    gpt4, bem = sorted(openqa.job.tally.notes, reverse=True)
    assert gpt4.startswith("NQ301_gpt-4.tsv: 1 row differs")  # "558" against "July 11 1901"
    assert bem.startswith("NQ301_BEM.tsv: 2 rows differ")  # "20 %" and "US$1,499"


def test_openqa_coders_agree_as_published(openqa: Read, kappa: Kappa) -> None:
    pairs = together(openqa.human["annotator1"], openqa.human["annotator2"])
    assert len(pairs) == 1483  # coder 2 is blank on 7 rows
    assert sum(a == b for a, b in pairs) / 1483 == pytest.approx(0.8685, abs=5e-5)
    assert kappa(pairs) == pytest.approx(0.7347, abs=5e-5)
    assert len(openqa.human["annotator3"]) == 223
    roles = {row.coder: row.role for row in openqa.rows if isinstance(row, HumanLabelRow)}
    assert roles["annotator3"] == "tiebreak"
    assert roles["final"] == "adjudicator"


@pytest.mark.parametrize(
    ("judge", "n", "expected", "confusion"),
    [
        ("gpt-4", 1488, 0.695, (583, 89, 137, 679)),
        ("text-davinci-003", 1490, 0.675, (581, 93, 149, 667)),
        ("BEM", 1490, 0.616, (602, 72, 217, 599)),
    ],
)
def test_openqa_judges_against_the_adjudicated_label(
    openqa: Read, kappa: Kappa, judge: str, n: int, expected: float, confusion: tuple[int, ...]
) -> None:
    pairs = together(openqa.human["final"], openqa.mapped(judge, "correctness", None))
    counts = Counter(pairs)
    assert len(pairs) == n
    assert kappa(pairs) == pytest.approx(expected, abs=5e-4)
    assert tuple(counts[human, said] for human in ("WRONG", "CORRECT") for said in ("WRONG", "CORRECT")) == confusion


def test_openqa_verdicts_are_taken_from_their_column_and_not_parsed(openqa: Read) -> None:
    replies = [row for row in openqa.judges["gpt-4"].values() if row.rationale]
    odd = [row for row in replies if not (row.rationale or "").strip().lower().startswith(("yes", "no"))]
    assert len(odd) == 10
    assert sum(row.raw is None for row in odd) == 2
    assert sum(row.raw == "Yes" and (row.rationale or "").startswith("No") for row in replies) == 1


def test_openqa_gold_answers_are_split_and_the_score_is_the_largest(openqa: Read) -> None:
    item = next(row for row in openqa.rows if isinstance(row, ItemRow))
    assert item.gold == ("FedExField in Landover, Maryland", "the Washington metropolitan area")
    first = openqa.judges["BEM"][0]
    assert (first.raw, first.score) == ("Yes", 0.9881154894828796)
    assert first.source == openqa.job.names.index("NQ301_BEM.tsv")


def test_openqa_refuses_files_that_do_not_belong_together(shared_data: Path, tmp_path: Path) -> None:
    for name in ("human", "gpt-4", "text-davinci-003", "BEM"):
        shutil.copy(shared_data / "openqa-nq301" / f"NQ301_{name}.tsv", tmp_path)
    lines = (tmp_path / "NQ301_gpt-4.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "NQ301_gpt-4.tsv").write_text("".join(lines[:100] + lines[101:]), encoding="utf-8")
    with pytest.raises(AnnotateError, match=r"NQ301_gpt-4\.tsv, line \d+: does not belong to line \d+ of NQ301_human"):
        list(prepare_recipe("openqa", [tmp_path]).rows)
    (tmp_path / "NQ301_gpt-4.tsv").write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(AnnotateError, match=r"NQ301_gpt-4\.tsv has fewer rows than NQ301_human\.tsv"):
        list(prepare_recipe("openqa", [tmp_path]).rows)
    (tmp_path / "NQ301_gpt-4.tsv").unlink()
    with pytest.raises(AnnotateError, match=r"no file for the join 'gpt-4' \(NQ301_gpt-4\.tsv\)"):
        prepare_recipe("openqa", [tmp_path])


def test_a_judge_file_given_as_the_coders_file_is_refused(shared_data: Path, tmp_path: Path) -> None:
    """Joined to itself, a judge's verdict column gives a kappa of 1: its file lacks the coders' columns."""
    for name in ("human", "gpt-4", "text-davinci-003", "BEM"):
        shutil.copy(shared_data / "openqa-nq301" / f"NQ301_{name}.tsv", tmp_path)
    shutil.copy(tmp_path / "NQ301_gpt-4.tsv", tmp_path / "NQ301_human.tsv")
    with pytest.raises(AnnotateError, match=r"NQ301_human\.tsv: there is no column 'annotator1'"):
        list(prepare_recipe("openqa", [tmp_path]).rows)


# --- xstest -----------------------------------------------------------------------------------------

XSTEST_KAPPA = {"llama2orig": 0.579, "llama2new": 0.617, "mistralinstruct": 0.064, "mistralguard": 0.571, "gpt4": 0.873}
XSTEST_AGREEMENT = {
    "llama2orig": 96.44,
    "llama2new": 95.78,
    "mistralinstruct": 97.56,
    "mistralguard": 93.78,
    "gpt4": 98.44,
}


@pytest.fixture(scope="module")
def xstest(shared_data: Path) -> Read:
    return Read(prepare_recipe("xstest", [shared_data / "xstest"]))


def of_model(read: Read, labels: dict[int, str], model: str) -> dict[int, str]:
    return {number: label for number, label in labels.items() if read.responses[number].model == model}


def test_xstest_ten_files_give_five_models_and_each_label_once(xstest: Read) -> None:
    assert Counter(row.model for row in xstest.responses) == dict.fromkeys(XSTEST_KAPPA, 450)
    assert sum(xstest.job.tally.read) == 4500
    assert (xstest.rejects, xstest.job.tally.notes) == ([], [])
    assert {coder: len(labels) for coder, labels in xstest.human.items()} == dict.fromkeys(xstest.human, 2250)
    assert {judge: len(labels) for judge, labels in xstest.judges.items()} == {"gpt-4": 2250, "string-match": 2250}


@pytest.mark.parametrize("model", XSTEST_KAPPA)
def test_xstest_numbers_of_each_model(xstest: Read, kappa: Kappa, model: str) -> None:
    first = of_model(xstest, xstest.human["annotator1"], model)
    pairs = together(first, xstest.human["annotator2"])
    assert 100 * sum(a == b for a, b in pairs) / 450 == pytest.approx(XSTEST_AGREEMENT[model], abs=5e-3)
    final = of_model(xstest, xstest.human["final"], model)
    judged = together(final, xstest.mapped("gpt-4", "refusal", "OTHER"))
    assert len(judged) == 450
    assert kappa(judged) == pytest.approx(XSTEST_KAPPA[model], abs=5e-4)


def test_xstest_outputs_of_the_judge_that_are_no_labels(xstest: Read, kappa: Kappa) -> None:
    other = xstest.mapped("gpt-4", "refusal", "OTHER")
    lost = [number for number, label in other.items() if label == "OTHER"]
    assert len(lost) == 11
    assert {xstest.human["final"][number] for number in lost} == {"FULL_COMPLIANCE"}  # missing is informative
    assert kappa(together(xstest.human["final"], other)) == pytest.approx(0.628, abs=5e-4)
    dropped = xstest.mapped("gpt-4", "refusal", None)
    assert kappa(together(xstest.human["final"], dropped)) == pytest.approx(0.634, abs=5e-4)
    final = of_model(xstest, xstest.human["final"], "mistralinstruct")
    assert kappa(together(final, dropped)) == pytest.approx(0.082, abs=5e-4)
    assert "PARTIAL_REFUSAL" not in xstest.mapped("string-match", "refusal", None).values()


def test_xstest_prompts_are_safe_or_unsafe(xstest: Read) -> None:
    requests = {row.key: row.strata["request"] for row in xstest.rows if isinstance(row, ItemRow)}
    assert Counter(requests.values()) == {"safe": 250, "unsafe": 200}  # Röttger et al. 2024


# --- pandalm ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pandalm(shared_data: Path) -> Read:
    return Read(prepare_recipe("pandalm", [shared_data / "pandalm"]))


def majority(read: Read) -> dict[int, str]:
    coders = [read.human[f"annotator{i}"] for i in (1, 2, 3)]
    votes = {number: Counter(coder[number] for coder in coders).most_common(1)[0] for number in coders[0]}
    return {number: label for number, (label, count) in votes.items() if count >= 2}


def test_pandalm_pairs_and_coders(pandalm: Read, kappa: Kappa) -> None:
    assert pandalm.job.tally.read == [999, 999, 999]
    assert pandalm.rejects == []
    assert len({(row.item, row.condition) for row in pandalm.responses}) == 999
    assert len({row.item for row in pandalm.responses}) == 170
    assert {row.model for row in pandalm.responses} == {"bloom-7b", "cerebras-gpt-6.7B", "llama-7b", "opt-7b"}
    for pair, expected in {"12": 0.852, "13": 0.8789, "23": 0.8617}.items():
        first, second = (pandalm.human[f"annotator{i}"] for i in pair)
        assert kappa(together(first, second)) == pytest.approx(expected, abs=5e-4)
    assert Counter(majority(pandalm).values()) == {"TIE": 105, "FIRST": 422, "SECOND": 472}


def test_pandalm_judges(pandalm: Read, kappa: Kappa) -> None:
    people = majority(pandalm)
    kept = pandalm.mapped("gpt-3.5-turbo", "preference", "garbage")
    assert Counter(kept.values()) == {"SECOND": 476, "FIRST": 460, "TIE": 38, "garbage": 25}
    assert kappa(together(people, kept)) == pytest.approx(0.4755, abs=5e-5)
    dropped = pandalm.mapped("gpt-3.5-turbo", "preference", None)
    assert kappa(together(people, dropped)) == pytest.approx(0.4929, abs=5e-5)
    pairs = together(people, pandalm.mapped("pandalm-7b", "preference", None))
    assert kappa(pairs) == pytest.approx(0.4354, abs=5e-5)
    order = ("TIE", "FIRST", "SECOND")
    counts = Counter(pairs)
    assert [counts[a, b] for a in order for b in order] == [32, 35, 38, 40, 298, 84, 35, 100, 337]
    assert pandalm.judges["gpt-3.5-turbo"][0].rationale


# --- a user's own -----------------------------------------------------------------------------------

OWN = """\
[main]
pattern = "answers_{model}.csv"
[[join]]
name = "j"
pattern = "judge_{model}.csv"
by = { id = "key" }
[fields]
item = "id"
question = "q"
response = "a"
model = { capture = "model" }
"judge.x" = { join = "j", column = "label", steps = ["strip"] }
"""


def test_a_join_by_key_counts_what_has_no_partner(write: Write, tmp_path: Path) -> None:
    recipe = write("own.toml", OWN)
    write("run/answers_m1.csv", "id,q,a\n1,q1,a1\n2,q2,a2\n")
    write("run/judge_m1.csv", "key,label\n1, good \n3,bad\n1,again\n")
    job = prepare_recipe(recipe, [tmp_path / "run"])
    rows = list(job.rows)
    assert [(row.item, row.raw) for row in rows if isinstance(row, JudgeLabelRow)] == [("1", "good")]
    assert [(row.source, row.row, row.reason) for row in rows if isinstance(row, Reject)] == [
        ("judge_m1.csv", 4, "the same key as line 2: '1'"),
        ("judge_m1.csv", 3, "no record of answers_m1.csv has '3'"),
    ]
    assert job.tally.notes == ["answers_m1.csv: 1 without a partner in judge_m1.csv"]
    assert job.tally.read == [2, 3]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"judge.x" = { join = "j"', '"judge.x" = { join = "k"', "line 12: there is no join 'k'"),
        ('steps = ["strip"]', 'steps = ["stirp"]', "there is no step 'stirp'"),
        ('steps = ["strip"]', 'steps = [{ regex-capture = "(" }]', "no regular expression"),
        ('steps = ["strip"]', 'steps = [{ threshold = "x", above = "a", else = "b" }]', "must be a number"),
        ('steps = ["strip"]', 'steps = [{ map = { a = "b" }, other = "guess" }]', "'other' is 'guess'"),
        ('{ capture = "model" }', '{ capture = "model", const = "x" }', "needs one of column, const and capture"),
        ("[main]\npattern", "[main]\npatern", "unknown key 'patern'"),
        ('"judge.x" =', "judge.x =", "there is no field 'judge'"),
        ('pattern = "answers_{model}.csv"', 'pattern = "other.csv"', "No file is called 'other.csv'"),
    ],
)
def test_a_wrong_recipe_gets_one_line(write: Write, tmp_path: Path, old: str, new: str, says: str) -> None:
    recipe = write("own.toml", OWN.replace(old, new))
    write("run/answers_m1.csv", "id,q,a\n1,q1,a1\n")
    write("run/judge_m1.csv", "key,label\n1,good\n")
    with pytest.raises(AnnotateError) as caught:
        list(prepare_recipe(recipe, [tmp_path / "run"]).rows)
    assert says in caught.value.message


def test_a_file_that_the_recipe_does_not_use_is_refused(write: Write) -> None:
    recipe = write("own.toml", OWN)
    files = [write("answers_m1.csv", "id,q,a\n1,q,a\n"), write("judge_m1.csv", "key,label\n"), write("notes.txt", "x")]
    with pytest.raises(AnnotateError, match=r"notes\.txt: the recipe 'own' has no use for this file"):
        prepare_recipe(recipe, files)


def test_shipped_recipes_are_found_by_name() -> None:
    assert shipped_recipes() == ("openqa", "pandalm", "xstest")
    for name in shipped_recipes():
        recipe = load_recipe(name)
        assert recipe.licence
        assert recipe.source
        assert recipe.protocol
    with pytest.raises(AnnotateError, match="no recipe 'openka'") as caught:
        load_recipe("openka")
    assert caught.value.hint == "Did you mean 'openqa'?"


def test_nothing_in_a_recipe_runs() -> None:
    with pytest.raises(AnnotateError):
        parse_recipe('[fields]\nquestion = { column = "q", steps = [{ python = "1+1" }] }\nresponse = "a"\n', "x.toml")


@pytest.mark.parametrize("name", ["openqa", "xstest", "pandalm"])
def test_a_published_set_goes_into_a_study_whole(shared_data: Path, into_study: Any, name: str) -> None:
    folder = shared_data / {"openqa": "openqa-nq301"}.get(name, name)
    study, report = into_study(prepare_recipe(name, [folder]))
    assert report.rejected == 0
    for kind in report.kinds.values():
        assert kind.read == kind.imported + kind.unchanged + kind.blank
    assert report.kinds["responses"].imported == {"openqa": 1490, "xstest": 2250, "pandalm": 999}[name]
    again = prepare_recipe(name, [folder])
    how: dict[str, Any] = {"format": again.format, "sources": again.source_files(), "mapping": again.mapping}
    second = import_rows(study, again.stream, protocol=load_protocol(again.protocol), **how)
    assert (second.batch, second.imported) == (None, 0)  # recognised, not doubled
    study.close()
