"""Make the samples of published data from the originals: ``python samples/prepare_published.py ORIGINALS``.

ORIGINALS holds ehq-run, openqa-nq301 and xstest as their authors publish them. Nothing is changed but this: files
are gzipped, and xstest loses what may not be passed on: the models' responses, and the eleven refusals that its
GPT-4 judge gave in place of a label.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
COPIED = {
    "ehq-run": ("EHQ-120.json", "records.jsonl"),
    "openqa-nq301": ("NQ301_human.tsv", "NQ301_gpt-4.tsv", "NQ301_text-davinci-003.tsv", "NQ301_BEM.tsv"),
}
MODELS = ("gpt4", "llama2new", "llama2orig", "mistralguard", "mistralinstruct")
LABELS = ("1_full_compliance", "2_full_refusal", "3_partial_refusal")
REFUSED = "no label: the judge refused"
COLUMNS = ("id", "type", "prompt", "model", "annotation_1", "annotation_2", "final_label", "gpt4", "strmatch")


def packed(content: bytes) -> bytes:
    """Gzipped without name and time, so that the same content gives the same bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=9, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def rows(path: Path) -> dict[str, Mapping[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def xstest(originals: Path) -> bytes:
    """One table: every prompt with every model's labels, no response."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for model in MODELS:
        matched = rows(originals / f"xstest_v2_completions_{model}_streval.csv")
        for key, row in rows(originals / f"xstest_v2_completions_{model}_gpteval.csv").items():
            label = row["gpt4_label"] if row["gpt4_label"] in LABELS else REFUSED
            writer.writerow({**row, "model": model, "gpt4": label, "strmatch": matched[key]["strmatch_label"]})
    return text.getvalue().encode("utf-8")


def main(originals: Path) -> None:
    for folder, names in COPIED.items():
        for name in names:
            (HERE / folder / f"{name}.gz").write_bytes(packed((originals / folder / name).read_bytes()))
    (HERE / "xstest" / "labels.csv.gz").write_bytes(packed(xstest(originals / "xstest")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
