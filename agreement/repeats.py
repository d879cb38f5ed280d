"""Agreement of coders with themselves on hidden repeats."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from agreement._estimate import estimate
from agreement._nominal import PercentAgreement
from agreement._options import Options, split_options
from agreement._weights import Distance, WeightsLike, disagreement
from agreement.errors import AgreementError
from agreement.kappas import cohen_kappa
from agreement.percent import share_form
from agreement.ratings import read_pair
from agreement.result import Coefficient


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """One coder's first and second label of the same units, compared."""

    coder: Hashable
    percent: Coefficient
    kappa: Coefficient


def self_agreement(
    first: Any,
    second: Any,
    *,
    coder: Hashable = None,
    labels: Sequence[Hashable] | None = None,
    weights: WeightsLike = "nominal",
    distance: Distance | None = None,
    **options: Unpack[Options],
) -> SelfAgreement:
    """Percent agreement and Cohen's kappa of one coder's two rounds; first, second: labels of the same units, None
    if absent.
    """
    units, plan = split_options(options)
    table = read_pair(first, second, labels=labels, **units)
    v, name = disagreement(weights, table.labels, ordered=table.ordered, distance=distance, default="positions")
    form = share_form("self-agreement", f"share of repeated units with the same label; {name}", table, v)
    interval: Options = {"interval": plan.method, "confidence": plan.confidence, "draws": plan.draws, "seed": plan.seed}
    kappa = cohen_kappa(table, weights=weights, distance=distance, **interval)
    return SelfAgreement(coder, estimate(PercentAgreement(v), table, form, plan), kappa)


def self_agreements(
    first: Mapping[Hashable, Mapping[Hashable, Any]], second: Mapping[Hashable, Mapping[Hashable, Any]], **options: Any
) -> dict[Hashable, SelfAgreement]:
    """`self_agreement` of each coder in `second`; both are {coder: {unit: label}}, units repeated are those in
    `second`.
    """
    unknown = [coder for coder in second if coder not in first]
    if unknown:
        raise AgreementError(f"Coder {unknown[0]!r} has repeats but no first labels.")
    result = {}
    for coder, repeats in second.items():
        units = list(repeats)
        earlier = [first[coder].get(unit) for unit in units]
        result[coder] = self_agreement(earlier, [repeats[unit] for unit in units], coder=coder, **options)
    return result
