"""Which labels there are, and in which order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from agreement._coding import MISSING, is_missing, plain
from agreement._types import BoolArray, IntArray
from agreement.errors import AgreementError


def arrange(
    codes: IntArray, raw: Sequence[Hashable], labels: Sequence[Hashable] | None
) -> tuple[IntArray, list[Hashable], list[Hashable]]:
    """Codes in the order of the declared labels, or of the sorted labels seen; those labels; and labels outside them.

    codes: (P, R) positions in `raw`, -1 for missing. Codes of labels outside are -1 too.
    """
    present = np.bincount(codes.ravel(order="K") + 1, minlength=len(raw) + 1)[1:] > 0
    if labels is None and isinstance(raw, range) and present.all():
        return codes, list(raw), []
    used = np.flatnonzero(present).tolist()
    seen = [raw[code] for code in used]
    order = _sorted(seen) if labels is None else declared_labels(labels)
    position = {label: code for code, label in enumerate(order)}
    table = np.full(len(raw) + 1, MISSING, np.int64)
    table[used] = [position.get(label, MISSING) for label in seen]
    return table[codes], order, [label for label in seen if label not in position]


def _sorted(labels: list[Hashable]) -> list[Hashable]:
    try:
        return sorted(labels)  # type: ignore[type-var]
    except TypeError:
        return sorted(labels, key=lambda label: (type(label).__name__, str(label)))


def declared_labels(labels: Sequence[Hashable]) -> list[Hashable]:
    """The declared set, checked: not empty, nothing twice, nothing missing."""
    declared = [plain(label) for label in labels]
    if isinstance(labels, str) or not declared:
        raise AgreementError(
            f"labels={labels!r} declares no set of labels.", "Give a list, for instance labels=['yes', 'no']."
        )
    if len(set(declared)) < len(declared):
        raise AgreementError(f"labels={declared!r} names a label twice.")
    if any(is_missing(label) for label in declared):
        raise AgreementError("A missing value cannot be a declared label.", "Leave None and NaN out of labels=.")
    return declared


def refuse_outside(
    label: Hashable, declared: Sequence[Hashable], where: BoolArray, counts: IntArray, coders: Sequence[Hashable]
) -> None:
    """Raise for a rating that is not among the declared labels. where: (P, R) the patterns and coders that have it."""
    number = int((where.sum(axis=1) * counts).sum())
    coder = coders[int(np.flatnonzero(where.any(axis=0))[0])]
    twin = next((other for other in declared if str(other) == str(label)), None)
    hint = "Add it to labels=, or make those ratings missing."
    if twin is not None:
        kinds = type(twin).__name__, type(label).__name__
        hint = f"The declared {twin!r} is {kinds[0]}, the rating is {kinds[1]}: convert one of them."
    found = f"{number} rating(s), the first by coder {coder!r}"
    raise AgreementError(f"Label {label!r} is not among the declared labels {list(declared)!r}: {found}.", hint)
