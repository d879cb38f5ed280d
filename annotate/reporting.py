"""A report on disk: results.json, everything drawn from it, and the labels that it can be recomputed from.

run.json apart says who, where and when.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.backups import private_file
from db.errors import AnnotateError

if TYPE_CHECKING:
    from annotate.reports.document import Document
    from annotate.results import Results
    from db.study import Study

FILES = ("report.html", "report.md", "results.json", "labels.csv", "corpus.json", "check.py", "check.R", "run.json")
FOLDERS = {"tables": (".csv", ".tex"), "figures": (".svg",)}


@dataclass(frozen=True, slots=True)
class Written:
    """The files of a report, in the order in which a person wants them."""

    files: tuple[Path, ...]


def write_report(
    study: Study, results: Results, folder: Path, *, names: bool = False, text: bool = True, force: bool = False
) -> Written:
    """Write the report into ``folder``. ``names`` and ``text`` as the results were made.

    Raises AnnotateError where there is a report already, unless ``force``.
    """
    from annotate.reports.contents import report_document

    _ready(folder, force)
    document = report_document(results.to_dict())
    texts = {
        **_drawn(document, results.study["title"]),
        **_data(study, results, names=names, text=text),
        "run.json": json.dumps(_run_facts(study), ensure_ascii=False, indent=1) + "\n",
        **_tables(document),
    }
    for name, content in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        _write(folder / name, content)
    return Written(tuple(folder / name for name in texts))


def _drawn(document: Document, title: str) -> dict[str, str]:
    from annotate.reports.html import to_html
    from annotate.reports.markdown import to_markdown

    found = json.dumps(document.results, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return {"report.html": to_html(document, title=title), "report.md": to_markdown(document), "results.json": found}


def _data(study: Study, results: Results, *, names: bool, text: bool) -> dict[str, str]:
    """What every number can be recomputed from, and the programs that do so without annotate."""
    from annotate.analysis.loading import load_labels
    from annotate.analysis.reference import study_reference
    from annotate.bundle import CORPUS, LABELS, corpus_text, item_names, labels_text
    from annotate.studies import study_protocol

    protocol = study_protocol(study)
    labels = load_labels(study, protocol, names=names)
    items = item_names(study, text=text)
    by = None if results.more is None else results.more.provenance["by"]
    population = results.impact is not None and results.impact.target == "population"
    return {
        LABELS: labels_text(study, labels, study_reference(labels), items),
        CORPUS: corpus_text(study, protocol, by, items, item=population, outside=labels.outside),
        "check.py": _ours("check.py"),
        "check.R": _ours("check_r.txt"),
    }


def _ours(name: str) -> str:
    return files("annotate.reports").joinpath(name).read_text(encoding="utf-8")


def _tables(document: Document) -> dict[str, str]:
    """Every table as CSV and LaTeX, every figure as SVG."""
    from annotate.reports.figures import to_svg
    from annotate.reports.table_files import figures_of, tables_of, to_csv, to_latex

    found: dict[str, str] = {}
    for name, table in tables_of(document):
        found[f"tables/{name}.csv"] = to_csv(document, table)
        found[f"tables/{name}.tex"] = to_latex(document, name, table)
    for figure in figures_of(document):
        found[f"figures/{figure.name}.svg"] = to_svg(document, figure, alone=True) + "\n"
    return found


def _ready(folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise AnnotateError(f"{folder}: is a file, expected a folder.", "Name another one with --out.")
    present = [name for name in FILES if (folder / name).exists()]
    if present and not force:
        raise AnnotateError(f"{folder}: there is a report already ({present[0]}).", "--force writes over it.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, endings in FOLDERS.items():  # tables of the report that is written over: others may stand there now
        for old in (folder / name).glob("*") if force else ():
            if old.suffix in endings:
                old.unlink()


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    private_file(partial)
    try:
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _run_facts(study: Study) -> dict[str, Any]:
    """What differs from run to run, and so stands in no other file: time, place, versions."""
    from importlib.metadata import PackageNotFoundError, version

    from annotate import __version__
    from db.clock import utc_now

    found: dict[str, str] = {}
    for name in ("numpy", "scipy", "pandas", "scikit-learn", "krippendorff"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "study": str(study.path),
        "utc": utc_now(),
        "command": sys.argv[1:],
        "annotate": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": found,
    }
