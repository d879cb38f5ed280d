"""The LaTeX tables as a real PDF by pdflatex: every table of a report, and tables of hostile text."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
from pathlib import Path

import pytest

from annotate.__main__ import run
from annotate.reports.contents import report_document
from annotate.reports.document import Document, Name, Table
from annotate.reports.latex import tex, to_latex
from annotate.reports.table_files import tables_of
from tests.end_to_end.programs import program
from tests.tui.hostile import CORPUS

pytestmark = pytest.mark.slow
LATEX = (
    "\\input{/etc/passwd}", "\\immediate\\write18{id}", "\\csname x\\endcsname", "%\\end{document}", "$$x^2$$",
    "a & b \\\\ c", "#1 ##", "{unbalanced", "unbalanced}", "\\", "^^M ^^5cx", "~", "``quotes''", '"straight"',
    "--- -- -", "?` !`", "_^", "é ł ß Ž ð þ", "中文 Ω ب 😀", "\\begin{verbatim}", "\\verb|x|", "\\catcode`\\%=12",
    "\\newpage", "[x](y)", "a" * 300, "0.5 -0.25 [-0.1, +0.2]",
)  # fmt: skip


def compiled(folder: Path, files: list[Path], preamble: str = "") -> tuple[str, str]:
    """Text of the PDF and pdflatex's log."""
    from pypdf import PdfReader

    inputs = "\n".join(f"\\input{{{path}}}\\clearpage" for path in files)
    head = f"\\documentclass{{article}}{preamble}\\usepackage{{booktabs}}\\begin{{document}}"
    (folder / "all.tex").write_text(f"{head}\n{inputs}\n\\end{{document}}\n", encoding="utf-8")
    ran = subprocess.run(
        [program("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"],
        cwd=folder,
        capture_output=True,
    )
    log = ran.stdout.decode("utf-8", "replace")
    assert ran.returncode == 0, log[-3000:]
    return "\n".join(page.extract_text() for page in PdfReader(folder / "all.pdf").pages), log


@pytest.mark.parametrize("preamble", ["", "\\usepackage[T1]{fontenc}"])
def test_every_table_compiles_and_none_is_wider_than_the_page(templates: Path, tmp_path: Path, preamble: str) -> None:
    report = tmp_path / "report"
    assert run(["report", str(templates / "coded.db"), "--out", str(report), "--draws", "1000", "--form", "latex"]) == 0
    files = sorted((report / "tables").glob("*.tex"))
    assert len(files) > 20
    text, log = compiled(tmp_path, files, preamble)
    assert [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log) if float(points) > 3] == []
    assert "Overfull \\vbox" not in log
    assert "Float too large" not in log
    for caption in ("EHQ, before and after", "agreement between people", "Files that were read"):
        assert bare(caption) in bare(text)
    assert re.search(r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", text)


LONG = {
    "with joints": "organisation-{}/a-model-with-a-very-long-name-v2.5:instruct-" * 20,
    "without": "abcdefghij{}" * 80,
    "with spaces": "A Very Long Name Of Model {} " * 30,
    "in letters that pdfLaTeX lacks": "模型{}" * 200,
}


@pytest.mark.parametrize("kind", LONG)
def test_names_of_480_letters_are_shortened_in_the_tables_and_stand_in_full_beneath(
    templates: Path, tmp_path: Path, kind: str
) -> None:
    report = tmp_path / "report"
    assert run(["report", str(templates / "coded.db"), "--out", str(report), "--draws", "1000", "--form", "csv"]) == 0
    written = (report / "results.json").read_text(encoding="utf-8")
    models = list(json.loads(written)["impact"]["judges"]["ehq-rules"]["models"])
    assert len(models) == 4
    long = [LONG[kind].replace("{}", str(at))[:479].strip() + "x" for at in range(4)]
    for model, name in zip(models, long, strict=True):
        written = written.replace(json.dumps(model)[1:-1], name)
    document = report_document(json.loads(written))
    files = []
    for name, table in tables_of(document):
        files.append(tmp_path / f"{name}.tex")
        files[-1].write_text(to_latex(document, name, table), encoding="utf-8")
    text, log = compiled(tmp_path, files)
    assert [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", log) if float(points) > 3] == []
    assert "Overfull \\vbox" not in log
    assert "Float too large" not in log
    table = to_latex(document, "changed", dict(tables_of(document))["what-changed-ehq-before-and-after"])
    rows, _, full = table.partition("(names in full)")
    assert len({line.split("&")[0] for line in rows.splitlines() if line.count("&") == 7}) == 5  # a head, four models
    assert max(map(len, rows.splitlines())) < 1000
    if "lacks" not in kind:
        for name in long:
            assert bare(tex(name)) in bare(full.replace("\\allowbreak{}", ""))
            assert bare(name)[:200] in bare(text)


@pytest.mark.parametrize("preamble", ["", "\\usepackage[T1]{fontenc}"])
def test_hostile_text_is_set_as_text(tmp_path: Path, preamble: str) -> None:
    texts = [*LATEX, *(each[:300] for each in CORPUS.values())]
    table = Table(
        (Name(LATEX[0]),),
        ((Name(LATEX[3]),), (Name(LATEX[6]),)),
        tuple(((Name(text),), (Name(text[::-1]),)) for text in texts),
        note=(Name(LATEX[7]),),
    )
    (tmp_path / "hostile.tex").write_text(to_latex(Document((), {}), "hostile", table), encoding="utf-8")
    text, _ = compiled(tmp_path, [tmp_path / "hostile.tex"], preamble)
    assert "root:" not in text
    assert "uid=" not in text
    for each in (each for each in LATEX[:8] if preamble or "^" not in each):  # the old encoding has ^ as an accent only
        assert bare(each) in bare(text), each
    assert "[U+4E2D]" in re.sub(r"\s", "", text)  # named where pdfLaTeX has no such letter


@pytest.mark.parametrize("preamble", ["", "\\usepackage[T1]{fontenc}"])
def test_every_letter_that_is_passed_on_is_one_that_pdflatex_sets(tmp_path: Path, preamble: str) -> None:
    letters = "".join(mark for mark in map(chr, range(0x20, 0x250)) if "studychar" not in tex(mark))
    table = Table((Name("letters"),), (("letter",),), tuple(((Name(mark),),) for mark in letters))
    (tmp_path / "letters.tex").write_text(to_latex(Document((), {}), "letters", table), encoding="utf-8")
    _, log = compiled(tmp_path, [tmp_path / "letters.tex"], preamble)
    assert "not set up for use with LaTeX" not in log
    assert len(letters) > 200


def bare(text: str) -> str:
    return re.sub(r"\s", "", unicodedata.normalize("NFKD", text)).replace("’", "'").replace("”", '"')
