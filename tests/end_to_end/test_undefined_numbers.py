"""What a reader is told when a number cannot be had, or means something else: through the command line."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.conftest import Cli

NO_VARIATION = "no variation: chance-corrected agreement cannot be computed"
CHANCE = ("cohen_kappa", "fleiss_kappa", "conger_kappa", "krippendorff_alpha", "scott_pi")


class Table:
    """Makes a study of the labels of a few coders and a judge, on as many items with one response each."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self._cli, self._folder = cli, folder

    def study(self, coders: dict[str, Sequence[str]], judge: Sequence[str] = (), protocol: str = "correctness") -> Path:
        path, file = self._folder / "study.db", self._folder / "labels.csv"
        names = [*coders, *(["judge"] if judge else [])]
        columns = [*coders.values(), *([judge] if judge else [])]
        lines = [",".join(["id", "question", "response", *names])]
        lines += [f"{i},q{i},r{i}," + ",".join(row) for i, row in enumerate(zip(*columns, strict=True))]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        roles = [f"{name}=coder.{name}" for name in coders] + (["judge=judge.judge"] if judge else [])
        self._cli("init", path, "--protocol", protocol)
        self._cli(
            "import", path, file, "--map", ",".join(["id=item", "question=question", "response=response", *roles])
        )
        return path

    def numbers(self, *arguments: Any, code: int = 0, **more: Any) -> dict[str, Any]:
        path = self.study(*arguments, **more)
        found: dict[str, Any] = self._cli("agreement", path, "--draws", 1000, "--json", code=code).json
        return found

    def text(self) -> str:
        """What a person reads, on one line."""
        return " ".join(self._cli("agreement", self._folder / "study.db", "--draws", 1000, code=None).out.split())


@pytest.fixture
def table(cli: Cli, tmp_path: Path) -> Table:
    return Table(cli, tmp_path)


def test_nobody_labelled_the_same_unit(table: Table) -> None:
    found = table.numbers({"a": ["CORRECT", "WRONG", "", ""], "b": ["", "", "CORRECT", "WRONG"]}, ["CORRECT"] * 4)
    assert found["people"]["coefficients"]["percent_agreement"]["undefined"] == "no unit has two labels"
    assert "• How far people agree with each other is undefined: no unit has two labels (a, b)." in table.text()


def test_all_ratings_one_label(table: Table) -> None:
    found = table.numbers({"a": ["CORRECT"] * 8, "b": ["CORRECT"] * 8})["people"]["coefficients"]
    assert found["percent_agreement"]["value"] == 1
    for name in CHANCE:
        assert found[name]["value"] is None, name
        assert found[name]["undefined"] == NO_VARIATION
    # Chance agreement over the two declared labels: AC1 0, Brennan-Prediger 1/2; agreement 1, so both are 1.
    assert found["gwet_ac1"]["value"] == found["brennan_prediger"]["value"] == 1
    assert f"undefined: {NO_VARIATION}" in table.text()


def test_one_coder(table: Table) -> None:
    found = table.numbers({"a": ["CORRECT", "WRONG"] * 4})["people"]
    assert all(each["value"] is None and "one coder" in each["undefined"] for each in found["coefficients"].values())
    assert (found["n_units"], found["n_single"]) == (0, 8)


def test_no_unit_with_two_ratings(table: Table) -> None:
    found = table.numbers({"a": ["CORRECT", ""] * 4, "b": ["", "WRONG"] * 4})["people"]
    assert all(each["undefined"] == "no unit has two labels" for each in found["coefficients"].values())


def test_a_label_that_one_coder_never_used(table: Table) -> None:
    """Agreement 3/4; a: 4 CORRECT and 4 WRONG, b: 6 and 2; p_e = (4 x 6 + 4 x 2) / 64 = 1/2, so kappa = 1/2."""
    a, b = ["CORRECT"] * 4 + ["WRONG"] * 4, ["CORRECT"] * 6 + ["WRONG"] * 2
    found = table.numbers({"a": a, "b": b}, protocol="ehq")["people"]
    kappa = found["coefficients"]["cohen_kappa"]
    assert kappa["value"] == pytest.approx(0.5)
    assert kappa["labels"] == ["ABSTAIN", "HEDGE", "CORRECT", "WRONG"]
    assert found["labels"]["HEDGE"]["value"] is None


def test_agreement_below_chance(table: Table) -> None:
    labels = ["CORRECT", "WRONG"] * 10
    found = table.numbers({"a": labels, "b": labels[::-1]})["people"]["coefficients"]["cohen_kappa"]
    assert found["value"] == pytest.approx(-1)
    assert any("the labels may be reversed" in note for note in found["notes"])
    assert "the labels may be reversed" in table.text()


def test_a_judge_that_is_reversed_is_named(table: Table) -> None:
    labels = ["CORRECT"] * 15 + ["WRONG"] * 15
    found = table.numbers({"a": labels, "b": labels}, judge=["WRONG"] * 15 + ["CORRECT"] * 15)["judges"]["judge"]
    assert any("may be reversed" in warning and "judge" in warning for warning in found["warnings"])
    assert "the labels may be reversed" in table.text()


def test_output_that_is_no_label_is_a_row_of_its_own(table: Table) -> None:
    """20 items, judge right on 15, silent on 1 and off the scale on 4: agreement 15/20, and 15/15 without them."""
    labels = ["CORRECT"] * 10 + ["WRONG"] * 10
    judge = [*labels[:15], "maybe", "maybe", "dunno", "?", ""]
    found = table.numbers({"a": labels, "b": labels}, judge=judge)["judges"]["judge"]
    assert found["matrix"]["rows_judge"] == ["CORRECT", "WRONG", "(not a label)", "(missing)"]
    assert [sum(row) for row in found["matrix"]["counts"]] == [10, 5, 4, 1]
    assert found["measures"]["agreement"]["value"] == pytest.approx(15 / 20)
    assert found["measures"]["agreement_labels_only"]["value"] == 1
    assert "(not a label)" in table.text()


def test_few_disagreements_get_an_interval_that_says_so(table: Table) -> None:
    a = ["CORRECT"] * 20 + ["WRONG"] * 20
    b = ["WRONG", *a[1:]]
    found = table.numbers({"a": a, "b": b})["people"]["coefficients"]
    for name in ("percent_agreement", "cohen_kappa"):
        assert found[name]["interval"].startswith("Wilson"), name
        assert found[name]["high"] <= 1


@pytest.mark.parametrize(
    ("coders", "items", "missing"),
    [(2, 40, "needs 3 annotators with at least 30 items each, there are 2"), (3, 20, "with at least 30 items each")],
)
def test_the_alternative_annotator_test_says_what_is_missing(
    table: Table, coders: int, items: int, missing: str
) -> None:
    labels = (["CORRECT", "WRONG"] * items)[:items]
    found = table.numbers({f"c{i}": labels for i in range(coders)}, judge=labels)["judges"]["judge"]
    assert found["alt_test"] is None
    assert missing in found["no_alt_test"]
    assert "refused" in table.text()


def test_nobody_labelled_anything(cli: Cli, ehq_study: Path) -> None:
    found = cli("agreement", ehq_study, "--json", code=1)
    assert found.json["people"] is None
    assert found.json["not_run"] == [{"what": "agreement", "why": "no human labels yet"}]
    assert "no human labels yet" in found.err
    assert "--judge-only" in cli("impact", ehq_study, code=1).err


def test_a_coder_who_has_labelled_nothing_is_no_coder_of_the_agreement(
    cli: Cli, templates: Path, tmp_path: Path
) -> None:
    """Assigned is not labelled: two coders have labels, two have units to code."""
    study = tmp_path / "s.db"
    shutil.copy(templates / "coded.db", study)
    cli("assign", study, "--coders", "Ada,Ben", "--again")
    people = cli("agreement", study, "--json").json["people"]
    assert people["coders"] == ["simulated-1", "simulated-2"]
    assert len(people["pairs"]) == 1
    assert "no label yet, so not among the coders: Ada, Ben" in people["notes"]
