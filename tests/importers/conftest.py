"""What the tests of importers share: writing a file, reading it, and Cohen's kappa by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotate.importers import ImportJob, prepare
from annotate.protocols import load_protocol
from db.imports import ImportReport, import_rows
from db.study import create_study


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """``write("a.csv", "…")`` gives the path of a new file."""

    def make(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return make


@pytest.fixture
def rows_of() -> Callable[..., list[Any]]:
    """``rows_of(path, format="table", map="…")``: every row that comes out."""

    def read(*paths: Path, format: str = "", **options: str) -> list[Any]:
        return list(prepare(paths, format=format, options=options).rows)

    return read


@pytest.fixture
def kappa() -> Callable[[Sequence[tuple[str, str]]], float]:
    """Cohen's kappa from its definition: (p_o - p_e) / (1 - p_e), p_e the product of the two marginals, summed."""

    def cohen(pairs: Sequence[tuple[str, str]]) -> float:
        n = len(pairs)
        first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
        observed = sum(a == b for a, b in pairs) / n
        expected = sum(first[label] * second[label] for label in first) / n**2
        return (observed - expected) / (1 - expected)

    return cohen


@pytest.fixture
def into_study(tmp_path: Path) -> Callable[..., tuple[Any, ImportReport]]:
    """``into_study(job)``: a new study with the job's rows, and the report."""

    def run(job: ImportJob, protocol: str = "", **how: Any) -> tuple[Any, ImportReport]:
        codebook = load_protocol(protocol or job.protocol)
        study = create_study(tmp_path / f"study-{len(list(tmp_path.glob('*.db')))}.db", codebook)
        how = {"format": job.format, "sources": job.source_files(), "mapping": job.mapping, **how}
        return study, import_rows(study, job.stream, protocol=codebook, rows_read=job.tally.read, **how)

    return run
