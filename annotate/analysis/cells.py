"""The corpus of a study as cells of model, design stratum and judge label, with the human labels seen in each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from agreement.cells import Cells
from agreement.impact import Records, Sample
from agreement.impact.columns import NO_LABEL_NAMES

Key = tuple[str, str, str, bytes]


def cells_of(corpus: Records, sample: Sample, judge: str) -> Cells:
    """Cells of one judge, technical failures left out of both sides: the corpus holds none that a coder flagged."""
    chance = _chances(sample)
    sizes: dict[Key, int] = {}
    for key, count in _keys(corpus, judge, corpus.count):
        sizes[key] = sizes.get(key, 0) + count
    q = len(corpus.labels)
    labelled: dict[Key, np.ndarray] = {}
    fate = np.array(sample.status, dtype=object)
    for at, (key, _) in _placed(sample.records, judge):
        if fate[at] != "technical":
            labelled[key] = labelled.get(key, np.zeros(q)) + sample.shares[at]
    keys = sorted(key for key, size in sizes.items() if size > 0)
    return Cells(
        corpus.labels,
        tuple(key[0] for key in keys),
        tuple(key[1] for key in keys),
        tuple(key[2] for key in keys),
        np.array([sizes[key] for key in keys], np.int64),
        np.array([labelled.get(key, np.zeros(q)) for key in keys], np.float64).reshape(len(keys), q),
        np.array([np.frombuffer(key[3], np.bool_) for key in keys], np.bool_).reshape(len(keys), q),
        np.array([chance.get(key[:2], 0.0) for key in keys], np.float64),
    )


def _chances(sample: Sample) -> dict[tuple[str, str], float]:
    """The inclusion probability of each model and design stratum: the same for all its units by design."""
    models, strata = sample.records.model.values(), sample.records.stratum.values()
    return {(m, s): float(pi) for m, s, pi in zip(models, strata, sample.inclusion, strict=True)}


def _placed(records: Records, judge: str) -> Iterator[tuple[int, tuple[Key, int]]]:
    positions = np.flatnonzero(~records.technical)
    return zip(positions.tolist(), _keys(records, judge, records.count), strict=True)


def _keys(records: Records, judge: str, counts: np.ndarray) -> Iterator[tuple[Key, int]]:
    """(cell, count) of every row that is no technical failure."""
    models, strata, said = records.model.values(), records.stratum.values(), records.judges[judge]
    possible = records.can_occur()
    for at in np.flatnonzero(~records.technical).tolist():
        code = int(said[at])
        name = records.labels[code] if code >= 0 else NO_LABEL_NAMES[code]
        yield (models[at], strata[at], name, possible[at].tobytes()), int(counts[at])
