"""The programs beside a report, and a recomputation by hand with pandas and scikit-learn, on several studies."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotate.adjudicating import open_cases
from annotate.protocols import parse_protocol
from annotate.sample_files import sample
from db.adjudicating import Decision
from db.coding import CodingSession
from db.records import Act
from db.study import open_study
from tests.end_to_end.check_programs import Row, checked, differing, same_in_r
from tests.end_to_end.coded_studies import SKIP, chance, do, ragged
from tests.end_to_end.conftest import Cli

FORM = ("--form", "csv")


@pytest.fixture(scope="module")
def folder(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of two studies of the EHQ sample under their names, the second coded here; the studies beside them."""
    found = tmp_path_factory.mktemp("checks")
    for name, source in (("coded", "coded.db"), ("ragged", "ehq.db")):
        (found / f"{name}.db").write_bytes((templates / source).read_bytes())
    ragged(found / "ragged.db")
    for name in ("coded", "ragged"):
        do("report", found / f"{name}.db", "--out", found / name, "--draws", 1000, *FORM, "--no-text")
    return found


@pytest.fixture(scope="module")
def published(folder: Path) -> Path:
    """The same folder with reports of two published studies besides."""
    for name, protocol, recipe in (("openqa", "correctness", "openqa"), ("xstest", "refusal", None)):
        data = sample("openqa-nq301" if name == "openqa" else "xstest")
        do("init", folder / f"{name}.db", "--protocol", protocol)
        do("import", folder / f"{name}.db", "--recipe", recipe or data / "map.toml", data)
        do("report", folder / f"{name}.db", "--out", folder / name, "--draws", 1000, *FORM, "--no-text")
    return folder


def test_check_py_recomputes_headline_kappa_alpha_and_matrix(folder: Path) -> None:
    found = checked(folder / "coded")
    for what in ("EHQ, model gemma-3-270m-bold, sample, judge ehq-rules", "judge ehq-rules says WRONG, people ABSTAIN"):
        assert what in found, what
    found = checked(folder / "ragged")
    for what in ("percent_agreement", "cohen_kappa"):
        assert f"{what}, by the design" in found, what


@pytest.fixture(scope="module")
def reasoned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of the simulated NAS study: part of it rated by both, one unfinished, some units skipped."""
    study = tmp_path_factory.mktemp("reasoned") / "study.db"
    do("init", study, "--protocol", "nas")
    do("import", study, sample("nas-simulated", "outputs.jsonl.gz"), "--format", "nas")
    do("sample", study, "--n", 360, "--by", "model,condition", "--seed", 7)
    do("assign", study, "--coders", "Ada,Ben", "--overlap", 0.7, "--repeats", 0.08, "--simulated")
    with open_study(study) as opened:
        protocol = parse_protocol(opened.protocol_toml, opened.protocol_name)
    for coder, most in (("Ada", 400), ("Ben", 200)):
        with CodingSession.open(study, coder, protocol) as session:
            for _ in range(most):
                if (item := session.next()) is None:
                    break
                what = (item.question, item.text, item.choice, item.reason)  # ids differ from run to run
                rating = int(55 + 45 * chance(what)) - (30 if chance(coder, what) < 0.15 else 0)
                if chance(what, "skip") < 0.04:
                    session.save(Act("skip", item.assignment, reason=SKIP, active_ms=1000))
                else:
                    session.save(Act("rating", item.assignment, rating=rating, active_ms=2000))
    do("report", study, "--out", study.parent / "report", "--draws", 1000, *FORM, "--no-text")
    return study.parent / "report"


def none_aligned(row: Row) -> Row:
    """A row of labels.csv, people finding no reason aligned where Mistral could not search for known facts."""
    of = (row["model"][:7], row["stratum:item_type"], row["condition"])
    mine = [name for name in row if name.startswith("rating:") and row[name]]
    return row | (dict.fromkeys(mine, "0") if of == ("Mistral", "IK", "without search") else {})


def test_nas_and_kis_are_recomputed_and_a_changed_rating_is_seen(reasoned: Path, tmp_path: Path) -> None:
    found = checked(reasoned)
    for score in ("NAS with search", "NAS without search", "KIS with search", "KIS without search"):
        for who in ("people (judge simulated-judge)", "judge simulated-judge"):
            assert f"{score}, model Mistral Small (simulated), sample, {who}" in found

    # No reason aligned: every response is -1, by the definition of KIS without search.
    assert differing(reasoned, tmp_path / "changed", none_aligned) == {
        "KIS without search, model Mistral Small (simulated), sample, people (judge simulated-judge)": "-1.0"
    }


@pytest.fixture(scope="module")
def decided(reasoned: Path) -> Path:
    """A report of the same study once every difference of its coders was decided as aligned."""
    study = reasoned.parent / "decided.db"
    shutil.copy(reasoned.parent / "study.db", study)
    with open_cases(study, "Lea") as session:
        units = session.queue().units
        for unit in units:
            session.decide(unit, Decision(None, rating=90, reason="ambiguous"))
    assert len(units) > 5
    do("report", study, "--out", reasoned.parent / "decided", "--draws", 1000, *FORM, "--no-text")
    return reasoned.parent / "decided"


def test_a_decided_rating_takes_the_place_of_the_coders(reasoned: Path, decided: Path) -> None:
    """An aligned reason can only raise a score of people; check.py, which shares no code, gives the same numbers."""
    before, after = checked(reasoned), checked(decided)
    scores = [what for what in before if re.match("(NAS|KIS) with.*, sample, people", what)]
    moves = [float(after[what][0]) - float(before[what][0]) for what in scores]
    assert len(moves) == 12 and min(moves) >= 0 and sum(move > 0.01 for move in moves) >= 3, moves


@pytest.fixture(scope="module", params=["census", "weighted"])
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of ratings that were imported: as a census of what was rated, or with each row's probability."""
    folder = tmp_path_factory.mktemp(request.param)
    with gzip.open(sample("nas-simulated", "outputs.jsonl.gz"), "rt", encoding="utf-8") as file:
        outputs = [json.loads(line) for line in file]
    with (folder / "ratings.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "model", "condition", "repeat", "coder", "rating", "pi"])
        for each in outputs:
            key = (each["item"], each["model"], each["condition"])
            pi = 0.5 if each["condition"] == "with search" else 0.25
            if each.get("alignment") is None or chance(key, "drawn") >= pi:
                continue
            for coder in ("Ada", "Ben"):
                slip = 40 if chance(key, coder) < 0.2 else 0
                if coder == "Ada" or chance(key, "both") < 0.5:
                    writer.writerow([*key, 1, coder, max(0, each["alignment"] - slip), pi])
    columns = "item=item,model=model,condition=condition,repeat=repeat,coder=coder,rating=rating"
    columns += ",pi=pi" if request.param == "weighted" else ""
    do("init", folder / "study.db", "--protocol", "nas")
    do("import", folder / "study.db", sample("nas-simulated", "outputs.jsonl.gz"), "--format", "nas")
    do("import", folder / "study.db", folder / "ratings.csv", "--map", columns)
    do("report", folder / "study.db", "--out", folder / "report", "--draws", 1000, *FORM, "--no-text")
    return folder / "report"


def test_imported_ratings_are_recomputed_and_a_changed_one_is_seen(imported: Path, tmp_path: Path) -> None:
    corpus = json.loads((imported / "corpus.json").read_text(encoding="utf-8"))
    assert corpus["sample_kind"] == ("census" if "census" in str(imported) else "imported")
    found = checked(imported)
    scores = [what for what in found if re.match("(NAS|KIS) with", what)]
    assert len(scores) == 4 * 3 * 2, scores

    off = differing(imported, tmp_path / "changed", none_aligned)
    assert set(off) == {"KIS without search, model Mistral Small (simulated), sample, people (judge simulated-judge)"}


@pytest.mark.slow
def test_check_r_recomputes_imported_ratings(imported: Path) -> None:
    assert any(what.startswith("KIS with search") for what in same_in_r(imported))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["coded", "ragged", "openqa", "xstest", "reasoned", "decided"])
def test_check_r_gives_every_number_that_check_py_gives(
    published: Path, reasoned: Path, decided: Path, name: str
) -> None:
    found = same_in_r({"reasoned": reasoned, "decided": decided}.get(name, published / name))
    assert any(what.startswith("judge ") and " says " in what for what in found)


def test_without_labels_both_say_so_and_end_well(cli: Cli, ehq_study: Path, tmp_path: Path) -> None:
    cli("report", ehq_study, "--out", tmp_path / "report", "--draws", 1000, *FORM)
    cli("sample", ehq_study, "--n", 40, "--anyway")
    cli("report", ehq_study, "--out", tmp_path / "drawn", "--draws", 1000, *FORM)
    for name in ("report", "drawn"):
        ran = subprocess.run([sys.executable, "-I", tmp_path / name / "check.py"], capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout == "labels.csv holds no label of a person: there is nothing to recompute.\n"


# --- by hand, from the exported labels ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def labels(folder: Path) -> Any:
    """The long export of the unfinished study, as pandas reads it."""
    import pandas as pd

    out = folder / "ragged.csv"
    if not out.exists():
        do("export", folder / "ragged.db", "--out", out)
    return pd.read_csv(out, dtype=str, keep_default_na=False)


def reported(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "ragged" / "results.json").read_text(encoding="utf-8"))
    return found


def by_hand(labels: Any, folder: Path) -> Any:
    """A row a unit that was drawn: what the judge said, people's shares, whether a coder called it technical."""
    import pandas as pd

    wide = pd.read_csv(folder / "ragged" / "labels.csv", dtype=str, keep_default_na=False)
    main = labels[(labels["round"] == "main") & (labels["occurrence"] == "1") & (labels["stale"] == "false")]
    final = labels[labels["round"] == "adjudication"].set_index("task")["label"].to_dict()
    given = main[main["label"] != ""].groupby("task")["label"].apply(list).to_dict()
    technical = set(main.loc[main["flags"].str.contains("technical"), "task"])
    units = wide[["unit", "item", "model", "design", "pi", "stratum:category", "judge:ehq-rules"]].copy()
    units.columns = pd.Index(["unit", "item", "model", "stratum", "pi", "category", "judge"])
    units["pi"] = units["pi"].astype(float)
    units["technical"] = units["unit"].isin(technical)

    def shares(unit: str) -> dict[str, float]:
        if unit in technical:
            return {}
        if unit in final:
            return {final[unit]: 1.0}
        told = given.get(unit, [])
        return {label: told.count(label) / len(told) for label in set(told)}

    units["shares"] = units["unit"].map(shares)
    units["known"] = units["shares"].map(bool)
    return units


def test_the_study_has_what_makes_it_hard(labels: Any, folder: Path) -> None:
    status = reported(folder)["reference"]["status"]
    assert all(status[key] > 0 for key in ("labelled", "unresolved", "technical", "skipped", "unfinished")), status
    assert (labels["skip_reason"] != "").sum() > 5
    assert (labels["occurrence"] == "2").sum() > 3


def test_accuracy_kappa_and_f1_of_the_judge_by_pandas_and_scikit_learn(labels: Any, folder: Path) -> None:
    """Post-stratified: within model, judge label and whether CORRECT can occur, each labelled unit stands for N / n.

    N is counted in the run's own records; a unit that a coder calls technical leaves the corpus.
    """
    import pandas as pd
    from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, matthews_corrcoef

    units, found = by_hand(labels, folder), reported(folder)["judges"]["ehq-rules"]
    units["closed"] = units["category"].isin(["FEQ", "CCQ"])
    cells = ["model", "judge", "closed"]
    size = corpus().groupby(cells).size() - units[units["technical"]].groupby(cells).size().reindex(
        corpus().groupby(cells).size().index, fill_value=0
    )
    factor = size / units[units["known"]].groupby(cells).size()
    rows = [
        (unit.judge, label, share * factor[unit.model, unit.judge, unit.closed])
        for unit in units.itertuples()
        for label, share in unit.shares.items()
    ]
    each = pd.DataFrame(rows, columns=["judge", "human", "weight"])
    pair, weight = (each["human"], each["judge"]), {"sample_weight": each["weight"]}
    measures = {name: value["value"] for name, value in found["measures"].items()}
    assert measures["agreement"] == pytest.approx(accuracy_score(*pair, **weight), abs=1e-12)
    assert measures["kappa"] == pytest.approx(cohen_kappa_score(*pair, **weight), abs=1e-12)
    assert measures["macro_f1"] == pytest.approx(f1_score(*pair, **weight, average="macro"), abs=1e-12)
    assert measures["weighted_f1"] == pytest.approx(f1_score(*pair, **weight, average="weighted"), abs=1e-12)
    assert measures["mcc"] == pytest.approx(matthews_corrcoef(*pair, **weight), abs=1e-12)
    assert each["weight"].sum() == pytest.approx(480 - units["technical"].sum(), abs=1e-9)


def corpus() -> Any:
    """Model, judge label and category of every record of the run."""
    import pandas as pd

    names = {"CONFIDENT_CORRECT": "CORRECT", "CONFIDENT_WRONG": "WRONG"}
    with gzip.open(sample("ehq-run", "records.jsonl.gz"), "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    rows = [
        (r["model"], names.get(label := r["classification"]["label"], label), r["category"] in ("FEQ", "CCQ"))
        for r in records
    ]
    return pd.DataFrame(rows, columns=["model", "judge", "closed"])


def test_ehq1_on_the_sample_by_pandas(labels: Any, folder: Path) -> None:
    """Hájek: sum of w times the share of ABSTAIN and HEDGE over sum of w, w = drawn / (pi x labelled) in a stratum."""
    units, found = by_hand(labels, folder), reported(folder)["impact"]["judges"]["ehq-rules"]["models"]
    known = units[units["known"]].copy()
    scale = units[~units["technical"]].groupby("stratum").size() / known.groupby("stratum").size()
    known["weight"] = known["stratum"].map(scale) / known["pi"]
    known["cautious"] = known["shares"].map(lambda each: each.get("ABSTAIN", 0) + each.get("HEDGE", 0))
    for model, rows in known.groupby("model"):
        mine = (rows["weight"] * rows["cautious"]).sum() / rows["weight"].sum()
        judge = rows.loc[rows["judge"].isin(["ABSTAIN", "HEDGE"]), "weight"].sum() / rows["weight"].sum()
        sampled = found[model]["parts"]["EHQ1"]["sample"]
        assert sampled["human"]["value"] == pytest.approx(mine, abs=1e-12), model
        assert sampled["judge"]["value"] == pytest.approx(judge, abs=1e-12), model
        assert sampled["n"] == len(rows)


def test_kappa_of_the_two_coders_by_scikit_learn(labels: Any, folder: Path) -> None:
    """Weighted by 1 / (pi x pi2), scaled in a stratum by what of the overlap is labelled by both."""
    import pandas as pd
    from sklearn.metrics import cohen_kappa_score

    main = labels[(labels["round"] == "main") & (labels["occurrence"] == "1") & (labels["stale"] == "false")]
    wide = pd.read_csv(folder / "ragged" / "labels.csv", dtype=str, keep_default_na=False)
    shared = wide[wide["pi2"].astype(float) > 0]
    weights = {row.unit: (row.design, float(row.pi) * float(row.pi2)) for row in shared.itertuples()}
    pairs = main.pivot(index="task", columns="worker", values="label").reindex(shared["unit"]).fillna("")
    both = pairs[(pairs != "").all(axis=1)]
    drawn, done = count(pairs.index, weights), count(both.index, weights)
    factors = [drawn[weights[t][0]] / done[weights[t][0]] / weights[t][1] for t in both.index]
    found = reported(folder)["people"]
    assert found["n_units"] == len(both)
    mine = cohen_kappa_score(both.iloc[:, 0], both.iloc[:, 1], sample_weight=factors)
    assert found["coefficients"]["cohen_kappa"]["value"] == pytest.approx(mine, abs=1e-12)


def count(tasks: Any, weights: dict[str, tuple[str, float]]) -> dict[str, int]:
    strata = [weights[task][0] for task in tasks]
    return {stratum: strata.count(stratum) for stratum in set(strata)}
