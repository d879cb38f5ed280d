"""Make the example reports anew: ``python docs/examples/make.py [PANDALM]``; PANDALM: data of the PandaLM test set.

Random ids of units differ from run to run, and with them which examples are shown and which of several equal reasons
the second coder of one study leaves undone. Every other number is the same.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from simulated import CODERS, adjudicate, code, nas, wikiprofile

from annotate.__main__ import run
from annotate.sample_files import sample

HERE = Path(__file__).resolve().parent
KEPT = ("report.html", "report.md", "report.pdf", "figures", "tables")


def annotate(*arguments: object) -> None:
    if run([str(argument) for argument in arguments]):
        raise SystemExit(f"annotate {arguments} failed")


def ehq(study: Path) -> None:
    """Real responses of a small model; the two coders are simulated, and named so."""
    annotate("init", study, "--protocol", "ehq", "--title", "EHQ sample, SIMULATED coders")
    items, records = sample("ehq-run", "EHQ-120.json.gz"), sample("ehq-run", "records.jsonl.gz")
    annotate("import", study, "--items", items, "--records", records)
    annotate("sample", study, "--n", 200, "--seed", 42)
    columns = "question_id=item,model=model,coder=coder,label=label"
    annotate("import", study, sample("ehq-run", "simulated_coders.csv"), "--map", columns, "--simulated")


def nas_simulated(study: Path) -> None:
    """Made-up responses with the counts of the paper, and simulated coders who rate reasons against rationales."""
    annotate("init", study, "--protocol", "nas", "--title", "NAS and KIS, SIMULATED responses and coders")
    annotate("import", study, sample("nas-simulated", "outputs.jsonl.gz"), "--format", "nas")
    annotate("sample", study, "--n", 360, "--by", "model,condition", "--seed", 7)
    annotate("assign", study, "--coders", ",".join(CODERS), "--overlap", 0.7, "--repeats", 0.08, "--simulated")
    code(study, nas, unfinished=0.05)
    adjudicate(study, share=0.8, rating=True)


def wikiprofile_simulated(study: Path) -> None:
    """Made-up responses with the profiles of the paper, two graders of theirs as judges, and simulated coders."""
    annotate("init", study, "--protocol", "wikiprofile", "--title", "WikiProfile, SIMULATED responses and coders")
    annotate("import", study, sample("wikiprofile-simulated", "responses.jsonl.gz"), "--format", "wikiprofile")
    annotate("sample", study, "--n", 40, "--unit", "item", "--by", "question_type", "--seed", 7)
    annotate("assign", study, "--coders", ",".join(CODERS), "--overlap", 0.6, "--repeats", 0.05, "--simulated")
    code(study, wikiprofile)
    adjudicate(study, share=1.0)


def openqa(study: Path) -> None:
    annotate("init", study, "--protocol", "correctness", "--title", "OpenQA-eval, NQ301")
    annotate("import", study, sample("openqa-nq301"), "--recipe", "openqa")


def xstest(study: Path) -> None:
    """Prompts and labels; the models' responses may not be passed on."""
    annotate("init", study, "--protocol", "refusal", "--title", "XSTest v2, labels without responses")
    folder = sample("xstest")
    annotate("import", study, "--recipe", folder / "map.toml", folder)


def pandalm(study: Path, data: str | Path = "") -> None:
    """Pairs of responses; ``data``: the folder of the test set, by default what the command line names."""
    annotate("init", study, "--protocol", "preference", "--title", "PandaLM test set")
    annotate("import", study, "--recipe", "pandalm", data or sys.argv[1])


OPTIONS = {"xstest": ("--no-text",), "nas_simulated": ("--names",), "wikiprofile_simulated": ("--names",)}


def main() -> None:
    for make in (ehq, nas_simulated, wikiprofile_simulated, openqa, xstest, *((pandalm,) if len(sys.argv) > 1 else ())):
        with tempfile.TemporaryDirectory() as folder:
            study, report = Path(folder) / "study.db", Path(folder) / "report"
            make(study)
            annotate("report", study, "--out", report, *OPTIONS.get(make.__name__, ()))
            out = HERE / make.__name__
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            for name in KEPT:
                (shutil.copytree if (report / name).is_dir() else shutil.copy)(report / name, out / name)


if __name__ == "__main__":
    main()
