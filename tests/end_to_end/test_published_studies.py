"""Three published studies, imported by their recipes in one command each, give the published numbers from --json.

Expected values are those of the publications and their data: OpenQA-eval (Kamalloo et al. 2023), XSTest (Röttger et
al. 2024), PandaLM (Wang et al. 2024).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.end_to_end.conftest import Cli


def agreement(cli: Cli, path: Path, protocol: str, recipe: str, data: Path) -> dict[str, Any]:
    cli("init", path, "--protocol", protocol)
    cli("import", path, "--recipe", recipe, data)
    found: dict[str, Any] = cli("agreement", path, "--draws", "1000", "--json").json
    assert all(check["agrees"] is not False for check in found["checks"])
    return found


def confusion(judge: dict[str, Any], labels: list[str]) -> list[list[float]]:
    """Rows people, columns judge, in the order of ``labels``: as the publications print it."""
    matrix = judge["matrix"]
    rows, columns = matrix["rows_judge"], matrix["columns_human"]
    return [[matrix["counts"][rows.index(said)][columns.index(people)] for said in labels] for people in labels]


def test_openqa(cli: Cli, tmp_path: Path, shared_data: Path) -> None:
    found = agreement(cli, tmp_path / "q.db", "correctness", "openqa", shared_data / "openqa-nq301")
    people = found["people"]
    assert people["n_units"] == 1483
    assert round(people["coefficients"]["percent_agreement"]["value"], 4) == 0.8685
    assert round(people["coefficients"]["cohen_kappa"]["value"], 4) == 0.7347
    assert round(people["with_tiebreakers"]["krippendorff_alpha"]["value"], 4) == 0.7312
    gpt4, davinci, bem = (found["judges"][name] for name in ("gpt-4", "text-davinci-003", "BEM"))
    order = ["WRONG", "CORRECT"]
    assert confusion(gpt4, order) == [[583, 89], [137, 679]]
    assert confusion(davinci, order) == [[581, 93], [149, 667]]
    assert confusion(bem, order) == [[602, 72], [217, 599]]
    # The two blank verdicts of GPT-4 are rows of their own: the published kappa leaves them out, n = 1,488.
    assert round(gpt4["measures"]["kappa_labels_only"]["value"], 3) == 0.695
    assert gpt4["matrix"]["rows_judge"] == ["CORRECT", "WRONG", "(missing)"]
    assert sum(map(sum, gpt4["matrix"]["counts"])) == 1490
    assert round(davinci["measures"]["kappa"]["value"], 3) == 0.675
    assert round(bem["measures"]["kappa"]["value"], 3) == 0.616


def test_xstest(cli: Cli, tmp_path: Path, shared_data: Path) -> None:
    found = agreement(cli, tmp_path / "x.db", "refusal", "xstest", shared_data / "xstest")
    by_model = found["people"]["by"]["model"]
    published = {
        "llama2orig": (96.44, 0.9293, 0.579),
        "llama2new": (95.78, 0.9258, 0.617),
        "mistralinstruct": (97.56, 0.9195, 0.064),
        "mistralguard": (93.78, 0.8923, 0.571),
        "gpt4": (98.44, 0.9701, 0.873),
    }
    judge = found["judges"]["gpt-4"]
    for model, (percent, fleiss, kappa) in published.items():
        assert round(100 * by_model[model]["percent_agreement"]["value"], 2) == percent
        assert round(by_model[model]["fleiss_kappa"]["value"], 4) == fleiss
        assert round(judge["by"]["model"][model]["measures"]["kappa"]["value"], 3) == kappa
    # Eleven outputs are refusals to judge, all on what people call full compliance; they are a row of their own.
    rows, columns = judge["matrix"]["rows_judge"], judge["matrix"]["columns_human"]
    silent = judge["matrix"]["counts"][rows.index("(not a label)")]
    assert silent[columns.index("FULL_COMPLIANCE")] == sum(silent) == 11
    assert round(judge["measures"]["kappa"]["value"], 3) == 0.628
    assert round(judge["measures"]["kappa_labels_only"]["value"], 3) == 0.634
    mistral = judge["by"]["model"]["mistralinstruct"]["measures"]
    assert round(mistral["kappa_labels_only"]["value"], 3) == 0.082


def test_pandalm(cli: Cli, tmp_path: Path, shared_data: Path) -> None:
    found = agreement(cli, tmp_path / "p.db", "preference", "pandalm", shared_data / "pandalm")
    kappas = {
        (pair["first"][-1], pair["second"][-1]): pair["coefficients"]["cohen_kappa"]["value"]
        for pair in found["people"]["pairs"]
    }
    assert {pair: round(value, 4) for pair, value in kappas.items()} == {
        ("1", "2"): 0.852,
        ("1", "3"): 0.8789,
        ("2", "3"): 0.8617,
    }
    assert round(found["people"]["coefficients"]["fleiss_kappa"]["value"], 4) == 0.8642
    assert found["reference"]["labels"] == {"FIRST": 422, "SECOND": 472, "TIE": 105}
    gpt, pandalm = found["judges"]["gpt-3.5-turbo"], found["judges"]["pandalm-7b"]
    assert round(gpt["measures"]["kappa"]["value"], 4) == 0.4755
    assert round(gpt["measures"]["kappa_labels_only"]["value"], 4) == 0.4929
    assert sum(gpt["matrix"]["counts"][gpt["matrix"]["rows_judge"].index("(not a label)")]) == 25
    assert round(pandalm["measures"]["kappa"]["value"], 4) == 0.4354
    assert confusion(pandalm, ["TIE", "FIRST", "SECOND"]) == [[32, 35, 38], [40, 298, 84], [35, 100, 337]]


def test_imported_twice_is_recognised(cli: Cli, tmp_path: Path, shared_data: Path) -> None:
    path, data = tmp_path / "q.db", shared_data / "openqa-nq301"
    cli("init", path, "--protocol", "correctness")
    first = cli("import", path, "--recipe", "openqa", data, "--json").json
    again = cli("import", path, "--recipe", "openqa", data, "--json").json
    assert (first["new"], again["new"]) == (True, False)
    assert first["rows"]["responses"]["imported"] == again["rows"]["responses"]["already"] == 1490
    assert cli("status", path, "--json").json["counts"]["responses"] == 1490
