"""Agreement published or recomputed elsewhere for real studies: several coders, gaps, judges that give no label."""

from __future__ import annotations

import csv
import json

import pytest

import agreement as ag


def rows(path, delimiter=","):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_openqa_coders(shared_data):
    """1,490 answers: seven without a second label; a third coder on 223."""
    data = rows(shared_data / "openqa-nq301" / "NQ301_human.tsv", "\t")
    coders = [[row[f"annotator{k}"] or None for row in data] for k in (1, 2, 3)]
    percent = ag.percent_agreement({"1": coders[0], "2": coders[1]})
    assert (percent.n_units, percent.n_ignored, round(percent.value, 4)) == (1483, 7, 0.8685)
    assert round(ag.cohen_kappa(*coders[:2], labels=["Yes", "No"]).value, 4) == 0.7347
    units = [list(unit) for unit in zip(*coders, strict=True)]
    assert round(ag.krippendorff_alpha(units, labels=["Yes", "No"]).value, 4) == 0.7312


def test_openqa_gpt4_judge(shared_data):
    human = [row["Acceptable?"] or None for row in rows(shared_data / "openqa-nq301" / "NQ301_human.tsv", "\t")]
    judge = [row["Acceptable?"] or None for row in rows(shared_data / "openqa-nq301" / "NQ301_gpt-4.tsv", "\t")]
    got = ag.cohen_kappa(human, judge, labels=["No", "Yes"])
    assert (got.n_units, round(got.value, 3)) == (1488, 0.695)


XSTEST = {
    "llama2orig": (96.44, 0.9293, 0.579),
    "llama2new": (95.78, 0.9258, 0.617),
    "mistralinstruct": (97.56, 0.9195, 0.064),
    "mistralguard": (93.78, 0.8923, 0.571),
    "gpt4": (98.44, 0.9701, 0.873),
}


@pytest.mark.parametrize("model", XSTEST)
def test_xstest_coders_and_judge(shared_data, model):
    data = rows(shared_data / "xstest" / f"xstest_v2_completions_{model}_gpteval.csv")
    percent, fleiss, judge_kappa = XSTEST[model]
    pairs = [[row["annotation_1"], row["annotation_2"]] for row in data]
    assert round(100 * ag.percent_agreement(pairs).value, 2) == percent
    assert round(ag.fleiss_kappa(pairs).value, 4) == fleiss
    final = [row["final_label"] for row in data]
    known = set(final)
    judge = [row["gpt4_label"] if row["gpt4_label"] in known else "OTHER" for row in data]
    assert round(ag.cohen_kappa(final, judge).value, 3) == judge_kappa


def test_xstest_judge_over_all_models(shared_data):
    """Eleven judge outputs are no labels: as a label of their own .628, left out .634."""
    data = [
        row for model in XSTEST for row in rows(shared_data / "xstest" / f"xstest_v2_completions_{model}_gpteval.csv")
    ]
    final = [row["final_label"] for row in data]
    judge = [row["gpt4_label"] if row["gpt4_label"] in set(final) else "OTHER" for row in data]
    assert (len(final), judge.count("OTHER")) == (2250, 11)
    assert round(ag.cohen_kappa(final, judge).value, 3) == 0.628
    without = [None if label == "OTHER" else label for label in judge]
    assert round(ag.cohen_kappa(final, without).value, 3) == 0.634


def test_pandalm_coders(shared_data):
    data = json.loads((shared_data / "pandalm" / "testset-v1.json").read_text(encoding="utf-8"))
    units = [[row[f"annotator{k}"] for k in (1, 2, 3)] for row in data]
    pairs = ag.by_pair(ag.cohen_kappa, units)
    assert [round(pairs[pair].value, 4) for pair in ((0, 1), (0, 2), (1, 2))] == [0.852, 0.8789, 0.8617]
    assert round(ag.fleiss_kappa(units).value, 4) == 0.8642


# symmetric pair-pooled pi, one-way pooled kappa, mean kappa over pairs, generalised Fleiss, alpha; undefined pairs
ALTTEST = {
    "wax": (0.26416, 0.26455, 0.2188, 0.264, 0.2648, 2),
    "framing": (0.56657, 0.56664, 0.5658, 0.567, 0.5666, 0),
}


@pytest.mark.parametrize("task", ALTTEST)
def test_alttest_coders(shared_data, task):
    humans = json.loads((shared_data / "alttest" / task / "human_annotations.json").read_text(encoding="utf-8"))
    pi, one_way, mean, fleiss, alpha, undefined = ALTTEST[task]
    assert round(ag.fleiss_kappa(humans, convention="pair-pooled").value, 5) == pi
    assert round(ag.light_kappa(humans, convention="pooled").value, 5) == one_way
    light = ag.light_kappa(humans)
    assert round(light.value, 4) == mean
    assert round(ag.fleiss_kappa(humans).value, 3) == fleiss
    assert round(ag.krippendorff_alpha(humans).value, 4) == alpha
    lost = [pair for pair, kappa in ag.by_pair(ag.cohen_kappa, humans).items() if kappa.value is None]
    assert len(lost) == undefined
    if lost:
        assert lost == [("6", "4"), ("7", "8")]  # coders' names in the file: they share no item
        assert light.notes == ("undefined for 2 of 28 coder pairs, which are left out",)
