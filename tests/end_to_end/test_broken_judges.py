"""What `annotate impact` says, in words, of judges that are broken in a known way. The corpora are seeded."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotate.sample_files import sample
from tests.end_to_end.conftest import Cli
from tests.end_to_end.test_simulated_studies import PLACE, coded, drawn

Record = dict[str, Any]
MODELS = ("alpha", "beta", "gamma")
RIGHT, WRONG = "CORRECT", "WRONG"
MAP = "id=item,question=question,kind=stratum.kind,model=model,response=response,judge=judge.gpt"


def study(cli: Cli, folder: Path, judge: Callable[[random.Random, Record], str], rates: dict[str, float]) -> Path:
    """Three models, 600 questions of two kinds; 300 labels in all, by one simulated coder who is always right."""
    rng, records = random.Random(3), []
    for model in MODELS:
        for number in range(600):
            record: Record = {
                "id": f"q{number:03}",
                "question": f"Question {number}?",
                "model": model,
                "response": "It is so.",
            }
            record["kind"] = "hard" if number % 3 == 0 else "easy"
            record["truth"] = RIGHT if rng.random() < rates[model] else WRONG
            record["judge"] = judge(rng, record)
            records.append(record)
    path, run = folder / "s.db", folder / "run.jsonl"
    lines = (json.dumps({name: value for name, value in each.items() if name != "truth"}) for each in records)
    run.write_text("\n".join(lines), encoding="utf-8")
    cli("init", path, "--protocol", "correctness")
    cli("import", path, "--format", "table", run, "--map", MAP)
    cli("sample", path, "--n", 300, "--by", "model,judge_label", "--seed", 5, "--anyway")
    chosen = drawn(path)
    keyed = (((each["id"], each["model"], "", 1), each["truth"]) for each in records)
    table = coded(folder / "labels.csv", [(*key, "sim", truth) for key, truth in keyed if key in chosen], "label")
    cli("import", path, table, "--simulated", "--map", f"{PLACE},label=label")
    return path


def slips(rng: random.Random, truth: str, share: float) -> str:
    other = WRONG if truth == RIGHT else RIGHT
    return other if rng.random() < share else truth


def words(text: str) -> str:
    """What a terminal of any width shows, as one line."""
    return " ".join(text.split())


SAME = dict.fromkeys(MODELS, 0.6)


def test_labels_reversed_for_one_model_are_named(cli: Cli, tmp_path: Path) -> None:
    path = study(cli, tmp_path, lambda rng, r: slips(rng, r["truth"], 0.92 if r["model"] == "beta" else 0.08), SAME)
    said = words(cli("impact", path).out)
    assert "model beta" in said.partition("Where the judge errs differently:")[2]
    assert "reversed" in said


def test_a_judge_constant_on_one_stratum_is_named(cli: Cli, tmp_path: Path) -> None:
    path = study(cli, tmp_path, lambda rng, r: RIGHT if r["kind"] == "hard" else slips(rng, r["truth"], 0.08), SAME)
    said = words(cli("impact", path, "--by", "kind").out).partition("Where the judge errs differently:")[2]
    assert "kind hard: the judge says CORRECT of all 600 records; people say otherwise in" in said


def test_a_favoured_model_keeps_its_true_rank_and_no_correction_is_shared(cli: Cli, tmp_path: Path) -> None:
    """True shares .8, .6, .4; the judge lets half of gamma's wrong answers pass and ranks it above beta."""
    rates = dict(zip(MODELS, (0.8, 0.6, 0.4), strict=True))

    def judge(rng: random.Random, record: Record) -> str:
        passed = record["model"] == "gamma" and record["truth"] == WRONG and rng.random() < 0.6
        return RIGHT if passed else slips(rng, record["truth"], 0.1)

    path = study(cli, tmp_path, judge, rates)
    found = cli("impact", path, "--json").json
    [ranking] = found["judges"]["gpt"]["rankings"].values()
    rank = {model: (ranking["judge_rank"][at], ranking["human_rank"][at]) for at, model in enumerate(ranking["models"])}
    assert rank["gamma"][0] < rank["beta"][0]
    assert [rank[model][1] for model in MODELS] == [1, 2, 3]
    [pooling] = found["judges"]["gpt"]["pooling"]
    assert not pooling["offered"]
    assert pooling["margin"] == 0.02
    said = words(cli("impact", path).out)
    assert "no correction pooled over models" in said
    assert "within 0.02 of each model's own" in said
    assert "gamma" in said.partition("no correction pooled over models")[2]
    assert "gamma: accuracy falls from" in said


def test_no_sentence_says_more_than_its_interval(cli: Cli, tmp_path: Path) -> None:
    """A judge who errs both ways alike: whatever happens to the scores, only a clear change is called one."""
    path = study(cli, tmp_path, lambda rng, r: slips(rng, r["truth"], 0.15), {"alpha": 0.5, "beta": 0.52, "gamma": 0.9})
    found = cli("impact", path, "--json").json
    for model in found["models"].values():
        low, high = model["delta"]["accuracy"]["low"], model["delta"]["accuracy"]["high"]
        clear = low > 0 or high < 0
        assert ("shows no clear change" in model["sentence"]) != clear
        assert ("falls from" in model["sentence"]) == (high < 0)
        assert ("rises from" in model["sentence"]) == (low > 0)
    [ranking] = found["judges"]["gpt"]["rankings"].values()
    for at, name in enumerate(ranking["models"]):
        most = max(ranking["probability"][at])
        assert ("not settled" in found["models"][name]["sentence"]) == (most < 0.5)


def test_xstest_shows_where_the_judge_fails_and_accounts_for_what_is_no_label(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "xstest.db"
    cli("init", path, "--protocol", "refusal")
    labels, columns = sample("xstest", "labels.csv.gz"), sample("xstest", "map.toml")
    cli("import", path, "--format", "table", labels, "--map", columns, code=None)
    said = words(cli("impact", path).out)
    first = said.partition("Where the judge errs differently:")[2].partition("•")[2]
    assert first.startswith(" model mistralinstruct")
    assert "mistralinstruct judge output is no label 11" in said
    found = cli("impact", path, "--json").json
    models = found["judges"][found["judge"]]["models"]
    assert {name: each["not_labels"] for name, each in models.items() if each["not_labels"]} == {"mistralinstruct": 11}
    assert (
        models["mistralinstruct"]["n"] == 450
    )  # the eleven stay in the denominator, and the score without them is given
    assert any(part["without_non_labels"] is not None for part in models["mistralinstruct"]["parts"].values())
