"""A report on disk: results.json, everything drawn from it, and the labels that it can be recomputed from.

run.json apart says who, where and when.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
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

FILES = ("report.html", "report.md", "report.pdf", "results.json", "labels.csv", "corpus.json", "check.py", "check.R")
RUN = "run.json"
FOLDERS = {"tables": (".csv", ".tex"), "figures": (".svg", ".pdf", ".png")}
FORMS = ("html", "markdown", "pdf", "csv", "latex", "figures")
"""What a report can be drawn as. `figures` are SVG always, and PDF and PNG for print with the extra."""
_NEEDS = {"pdf": ("typst", "the PDF"), "figures": ("matplotlib", "figures as PDF and PNG")}
Files = dict[str, str | bytes]


@dataclass(frozen=True, slots=True)
class Written:
    """The files of a report, in the order in which a person wants them, and what was left out for want of an extra."""

    files: tuple[Path, ...]
    left_out: tuple[str, ...] = ()


def write_report(
    study: Study,
    results: Results,
    folder: Path,
    *,
    names: bool = False,
    text: bool = True,
    force: bool = False,
    forms: Sequence[str] = (),
) -> Written:
    """Write the report into ``folder``. ``names`` and ``text`` as the results were made.

    ``forms``: which of FORMS; none named: all for which everything is installed. results.json, the labels and the
    programs that check are always written. Raises AnnotateError where there is a report already, unless ``force``,
    and where a form that was named needs an extra that is not installed.
    """
    from annotate.reports.contents import report_document

    missing = missing_extras(forms)
    _ready(folder, force)
    document = report_document(results.to_dict())
    wanted = [form for form in forms or FORMS if form not in missing]
    found: Files = {
        **_drawn(document, results.study["title"], wanted),
        **_data(study, results, names=names, text=text),
        RUN: json.dumps(_run_facts(study), ensure_ascii=False, indent=1) + "\n",
        **_tables(document, wanted),
        **_figures(document, wanted),
    }
    if "figures" in missing:
        found |= _figures(document, ["figures"], printed=False)
    for name, content in found.items():
        (folder / name).parent.mkdir(exist_ok=True)
        _write(folder / name, content)
    for name in (*FILES, RUN):  # of the report that was written over: its numbers are no longer these
        if name not in found:
            (folder / name).unlink(missing_ok=True)
    return Written(tuple(folder / name for name in found), tuple(missing.values()))


def missing_extras(forms: Sequence[str]) -> dict[str, str]:
    """By form, what is left out and how to have it. Raises AnnotateError where the form was named."""
    from importlib.util import find_spec

    from annotate.extras import OPTIONAL

    how = {each.module: each.how for each in OPTIONAL}
    found: dict[str, str] = {}
    for form, (module, what) in _NEEDS.items():
        if find_spec(module) is None:
            if form in forms:
                message = f"The form {form} needs {module}, which is not installed."
                raise AnnotateError(message, f"Install it: {how[module]}")
            found[form] = f"{what} ({how[module]})"
    return found


def _drawn(document: Document, title: str, forms: Sequence[str]) -> Files:
    from annotate.reports.html import to_html
    from annotate.reports.markdown import to_markdown

    found: Files = {}
    if "html" in forms:
        found["report.html"] = to_html(document, title=title)
    if "markdown" in forms:
        found["report.md"] = to_markdown(document)
    if "pdf" in forms:
        from annotate.reports.pdf import to_pdf

        found["report.pdf"] = to_pdf(document, title=title)
    found["results.json"] = results_text(document.results)
    return found


def results_text(results: Mapping[str, Any]) -> str:
    """results.json: sections, judges and models on lines of their own, and what is inside of them on one."""
    return _lines(results, 5) + "\n"


def _lines(value: Any, levels: int) -> str:
    if not levels or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inside = ",\n".join(
        f"{json.dumps(key, ensure_ascii=False)}: {_lines(each, levels - 1)}" for key, each in value.items()
    )
    return f"{{\n{inside}\n}}"


def _data(study: Study, results: Results, *, names: bool, text: bool) -> Files:
    """What every number can be recomputed from, and the programs that do so without annotate."""
    from annotate.analysis.loading import load_labels
    from annotate.analysis.reference import TECHNICAL, study_reference
    from annotate.bundle import CORPUS, LABELS, corpus_text, item_names, labels_text
    from annotate.studies import study_protocol

    protocol = study_protocol(study)
    labels = load_labels(study, protocol, names=names)
    items = item_names(study, text=text)
    by = None if results.more is None else results.more.provenance["by"]
    population = results.impact is not None and results.impact.target == "population"
    return {
        LABELS: labels_text(study, labels, study_reference(labels), items),
        CORPUS: corpus_text(
            study,
            protocol,
            by,
            items,
            item=population,
            outside=labels.outside,
            silent=labels.silent,
            technical=[fate == TECHNICAL for fate in labels.fate],
        ),
        "check.py": _check_program(profiles=any(rule.kind == "wikiprofile" for rule in protocol.scores)),
        "check.R": _ours("check_r.txt"),
    }


def _check_program(*, profiles: bool) -> str:
    """check.py with the scores that this report has: a reader need not read through those of other protocols."""
    own = _ours("check.py")
    if not profiles:
        return own
    start, end = own.index("# Scores"), own.index("def main(")
    other = _ours("check_profiles.py")
    return f"{own[:start]}{other[other.index('# Scores') :]}\n\n{own[end:]}"


def _ours(name: str) -> str:
    return files("annotate.reports").joinpath(name).read_text(encoding="utf-8")


def _tables(document: Document, forms: Sequence[str]) -> Files:
    """Every table as CSV and LaTeX."""
    from annotate.reports.latex import to_latex
    from annotate.reports.table_files import tables_of, to_csv

    found: Files = {}
    for name, table in tables_of(document):
        if "csv" in forms:
            found[f"tables/{name}.csv"] = to_csv(document, table)
        if "latex" in forms:
            found[f"tables/{name}.tex"] = to_latex(document, name, table)
    return found


def _figures(document: Document, forms: Sequence[str], *, printed: bool = True) -> Files:
    """Every figure as SVG for a screen; ``printed``: for print too. The Markdown shows the SVG."""
    from annotate.reports.figures import to_svg
    from annotate.reports.table_files import figures_of

    found: Files = {}
    for figure in figures_of(document):
        if "figures" in forms or "markdown" in forms:
            found[f"figures/{figure.name}.svg"] = to_svg(document, figure, alone=True) + "\n"
        if "figures" in forms and printed:
            from annotate.reports.print_figures import print_figure

            drawn = print_figure(document, figure)
            found |= {f"figures/{figure.name}.{kind}": drawn[kind] for kind in ("pdf", "png")}
            found[f"figures/{figure.name}-print.svg"] = drawn["svg"]
    return found


def _ready(folder: Path, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise AnnotateError(f"{folder}: is a file, expected a folder.", "Name another one with --out.")
    present = [name for name in (*FILES, RUN) if (folder / name).exists()]
    if present and not force:
        raise AnnotateError(f"{folder}: there is a report already ({present[0]}).", "--force writes over it.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, endings in FOLDERS.items():  # tables of the report that is written over: others may stand there now
        for old in (folder / name).glob("*") if force else ():
            if old.suffix in endings:
                old.unlink()


def _write(path: Path, content: str | bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    private_file(partial)
    try:
        partial.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _run_facts(study: Study) -> dict[str, Any]:
    """What differs from run to run, and so stands in no other file: time, place, versions."""
    from importlib.metadata import PackageNotFoundError, version

    from annotate import __version__
    from db.clock import utc_now

    found: dict[str, str] = {}
    for name in ("numpy", "scipy", "pandas", "scikit-learn", "krippendorff", "matplotlib", "typst"):
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
