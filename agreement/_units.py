"""What belongs to units rather than ratings: design weights, items, strata, population sizes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from agreement._coding import MISSING, code_array, code_sequence
from agreement._types import AnyArray, FloatArray
from agreement.errors import AgreementError


def unit_weights(weights: Any, n: int) -> FloatArray | None:
    """The (n,) design weights, checked."""
    if weights is None:
        return None
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (n,):
        raise AgreementError(f"unit_weights has shape {array.shape}, expected ({n},): one weight a unit.")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if bad.size:
        raise AgreementError(
            f"unit_weights[{bad[0]}] is {array[bad[0]]}, expected a positive number.",
            "Design weights are 1 / inclusion probability.",
        )
    return array


def unit_codes(values: Any, n: int, name: str) -> tuple[AnyArray, list[Hashable]] | None:
    """(n,) dense codes of an attribute of units, and its values; none may be missing."""
    if values is None:
        return None
    array = values if isinstance(values, np.ndarray) and values.dtype.kind != "O" else None
    codes, labels = code_sequence(list(values)) if array is None else code_array(array)
    if codes.shape != (n,):
        raise AgreementError(f"{name} has {len(codes)} entries, expected {n}: one a unit.")
    missing = np.flatnonzero(codes == MISSING)
    if missing.size:
        raise AgreementError(f"{name}[{missing[0]}] is missing.", "Every unit needs one.")
    used, dense = np.unique(codes, return_inverse=True)
    return dense, [labels[code] for code in used]


def population_sizes(
    population: int | Mapping[Hashable, int] | None, strata: tuple[Hashable, ...]
) -> FloatArray | None:
    """Units in each stratum's population."""
    if population is None:
        return None
    if isinstance(population, Mapping):
        absent = [name for name in strata if name not in population]
        if absent:
            raise AgreementError(f"population has no size for stratum {absent[0]!r}.")
        return np.array([population[name] for name in strata], np.float64)
    if len(strata) > 1:
        raise AgreementError(
            "population is one number but there are several strata.", "Give {stratum: number of units}."
        )
    return np.array([population], np.float64)
