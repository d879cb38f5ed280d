"""Other estimators of a corpus score, by name, for means of per-record values."""

from __future__ import annotations

from collections.abc import Sequence

from agreement.impact.case import Case
from agreement.impact.estimate import Estimate


def named_estimates(case: Case, part: str, methods: Sequence[str], level: float) -> dict[str, Estimate]:
    """The part under people's labels by each named method."""
    return {}
