"""Standard errors by linearisation, for any statistic and design."""

from __future__ import annotations

import math

import numpy as np

from agreement._form import Form
from agreement._sample import Sample, block_influence
from agreement._statistic import Statistic
from agreement._types import FloatArray
from agreement.errors import AgreementError


def standard_error(statistic: Statistic, sample: Sample, totals: FloatArray, form: Form) -> tuple[float | None, float]:
    """Linearised standard error, None with fewer than two blocks in a stratum, and the number of blocks less strata."""
    influence, counts, stratum = block_influence(statistic, sample, totals)
    size = np.bincount(stratum, counts, sample.n_strata).astype(np.float64)
    blocks = float(size.sum()) - (np.count_nonzero(size) - 1)
    whole = sample.n_strata == 1
    mean = np.zeros(1) if whole else np.bincount(stratum, counts * influence, sample.n_strata) / np.maximum(size, 1)
    spread = np.bincount(stratum, counts * (influence - mean[stratum]) ** 2, sample.n_strata)
    if form.divisor == "n" and sample.items is None and whole:
        factor = np.ones(1)
    elif (size[size > 0] < 2).any():
        return None, blocks
    else:
        factor = size / np.maximum(size - 1, 1)
    if sample.population is not None:
        factor = factor * _finite(size, sample.population)
    return math.sqrt(float(spread @ factor)), blocks


def _finite(size: FloatArray, population: FloatArray) -> FloatArray:
    if (size > population).any():
        raise AgreementError(
            f"population {population.tolist()} is smaller than the {size.tolist()} units sampled from it."
        )
    return np.asarray(1 - size / population)
