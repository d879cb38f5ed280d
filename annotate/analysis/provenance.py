"""Where the numbers come from: versions, seeds, digests of what was read, the codebook's text, the command lines.

No path, user or time is in it, so that the same study gives the same bytes; those stand in run.json.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from annotate import __version__
from annotate.analysis.counted import CountedStudy
from db.lineage import protocol_versions
from db.overview import coder_progress, imports_of
from db.samples import current_sample
from db.study import Study

_FLAGS = ("map", "judge", "tiebreak", "pi", "weight")
PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "krippendorff")


def provenance_facts(study: Study, design: Mapping[str, Any] | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """``settings``: what the report was asked for: by, seed, draws, level."""
    codebooks = protocol_versions(study)
    return {
        "annotate": __version__,
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "seeds": {"draw": None if design is None else design["seed"], "intervals": settings["seed"]},
        "by": None if settings["by"] is None else list(settings["by"]),
        "draws": settings["draws"],
        "level": settings["level"],
        "inputs": [*_inputs(study), *_cells(study)],
        "codebooks": [{"version": each.version, "change": each.change, "digest": each.digest} for each in codebooks],
        "protocol": codebooks[-1].toml,
        "commands": [*_imports(study), *_count(study), *_draw(study, design), _report(study, settings)],
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _inputs(study: Study) -> list[dict[str, Any]]:
    return [
        {"name": _base(name), "format": entry.format, "records": entry.sources[name], "sha256": digest}
        for entry in imports_of(study)
        for name, digest in zip(entry.sources, entry.digests, strict=True)
    ]


def _cells(study: Study) -> list[dict[str, Any]]:
    """The corpus, where it was counted outside the study: its digest is that of all its cells."""
    if not isinstance(study, CountedStudy):
        return []
    table = study.table
    facts = table.facts()
    return [
        {
            "name": "cells of the corpus",
            "format": facts["schema"],
            "records": table.account["read"],
            "sha256": table.digest,
        }
    ]


def _count(study: Study) -> list[str]:
    if not isinstance(study, CountedStudy):
        return []
    items = ["--with-items"] if "item" in study.table.cells.levels else []
    protocol = str(study.table.protocol["name"])
    return [shlex.join(["annotate", "count", "SOURCE", "--protocol", protocol, *items, "--out", "CELLS.parquet"])]


def _base(name: str) -> str:
    """The file's name without where it lay."""
    return name.replace("\\", "/").rpartition("/")[2]


def _imports(study: Study) -> list[str]:
    kinds = {each.kind for each in coder_progress(study)}
    found = []
    for entry in imports_of(study):
        kind, _, recipe = entry.format.partition(":")
        how = ["--recipe", recipe] if kind == "recipe" else ["--format", entry.format, *_options(entry.mapping)]
        if any(entry.counts.get("human labels", {}).values()) and "simulated" in kinds and "imported" not in kinds:
            how.append("--simulated")
        found.append(shlex.join(["annotate", "import", "STUDY.db", *how, *map(_base, entry.sources)]))
    return found


def _options(mapping: Mapping[str, Any]) -> list[str]:
    """What an import was told besides its files, as it was told; a file's name without where it lay."""
    found = []
    for key, value in mapping.items():
        for each in value if isinstance(value, list | tuple) else (value,):
            text = _base(str(each)) if str(each).endswith(".toml") else str(each)
            found += [f"--{key}", text] if key in _FLAGS else ["--option", f"{key}={text}"]
    return found


def _draw(study: Study, design: Mapping[str, Any] | None) -> list[str]:
    if design is None or design["kind"] != "draw":
        return []
    parts = ["annotate", "sample", "STUDY.db", "--n", str(design["n"]), "--seed", str(design["seed"])]
    parts += ["--by", ",".join(design["by"])] if design["by"] else []
    parts += ["--allocation", design["allocation"]]
    sample = current_sample(study)
    parts += ["--source", "SOURCE"] if sample is not None and "source" in sample.parameters else []
    return [shlex.join([*parts, *(["--unit", "item"] if design["unit"] == "item" else [])])]


def _report(study: Study, settings: Mapping[str, Any]) -> str:
    parts = ["annotate", "report", "STUDY.db", "--out", "DIR"]
    parts += ["--seed", str(settings["seed"]), "--draws", str(settings["draws"])]
    parts += ["--cells", "CELLS.parquet"] if isinstance(study, CountedStudy) else []
    return shlex.join([*parts, *(["--by", ",".join(settings["by"])] if settings["by"] else [])])
