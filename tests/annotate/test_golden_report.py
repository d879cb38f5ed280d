"""Reports drawn from a committed results.json, byte for byte. After a wanted change, make them anew and look at them:

python -m tests.annotate.test_golden_report
"""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from annotate.reports.contents import report_document
from annotate.reports.figures import to_svg
from annotate.reports.html import to_html
from annotate.reports.latex import to_latex
from annotate.reports.markdown import to_markdown
from annotate.reports.table_files import figures_of, tables_of, to_csv
from annotate.sample_files import sample

FOLDER = Path(__file__).parent / "golden"
MATRIX = "judge-gpt-4-confusion-matrix-on-1-490-labelled-u"


def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((FOLDER / "results.json.gz").read_bytes()))
    return found


def drawn() -> dict[str, str]:
    """Every form that is held to its bytes."""
    found = results()
    document = report_document(found)
    tables = dict(tables_of(document))
    return {
        "report.html": to_html(document, title=found["study"]["title"]),
        "report.md": to_markdown(document),
        "scores.svg": to_svg(document, figures_of(document)[0], alone=True) + "\n",
        "matrix.csv": to_csv(document, tables[MATRIX]),
        "matrix.tex": to_latex(document, MATRIX, tables[MATRIX]),
    }


@pytest.mark.parametrize("name", ["report.html", "report.md", "scores.svg", "matrix.csv", "matrix.tex"])
def test_the_same_results_give_the_same_bytes(name: str) -> None:
    assert drawn()[name] == (FOLDER / name).read_text(encoding="utf-8")


def test_three_numbers_of_the_golden_files_counted_from_the_published_tables() -> None:
    """From the file of the openqa study: responses, people's accuracy, and how often the first two annotators agree."""
    final, one, two = (_column("NQ301_human.tsv.gz", name) for name in ("Acceptable?", "annotator1", "annotator2"))
    both = [(a, b) for a, b in zip(one, two, strict=True) if a and b]
    agree = sum(a == b for a, b in both) / len(both)
    golden = results()
    assert golden["counts"]["responses"] == len(final) == 1490
    scores = golden["impact"]["judges"]["gpt-4"]["models"][""]["human"]
    assert scores["accuracy"] == pytest.approx(final.count("Yes") / 1490, abs=1e-9)
    assert golden["people"]["coefficients"]["percent_agreement"]["value"] == pytest.approx(agree, abs=1e-9)
    assert golden["people"]["n_units"] == len(both)
    markdown = (FOLDER / "report.md").read_text(encoding="utf-8")
    assert f"{final.count('Yes') / 1490:.3f}" in markdown
    assert f"{100 * agree:.1f} %" in markdown


def _column(name: str, column: str) -> list[str]:
    with gzip.open(sample("openqa-nq301", name), "rt", encoding="utf-8", newline="") as file:
        return [row[column] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]


if __name__ == "__main__":
    for file_name, text in drawn().items():
        (FOLDER / file_name).write_text(text, encoding="utf-8", newline="")
