"""Inter-coder agreement: coefficients, intervals, comparisons. Arrays and DataFrames in, frozen dataclasses out.

Names load on first use, so that importing the package costs no more than numpy. To add a public name: one row in
`_MODULES`, one import under `TYPE_CHECKING` and one entry in `__all__`. A public name must differ from every module
name in this package (the import system overwrites an attribute of the package with the module of the same name).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agreement.alpha import krippendorff_alpha as krippendorff_alpha
    from agreement.breakdown import by_label as by_label
    from agreement.breakdown import by_pair as by_pair
    from agreement.breakdown import by_stratum as by_stratum
    from agreement.comparison import Comparison as Comparison
    from agreement.comparison import compare_agreement as compare_agreement
    from agreement.continuous import BlandAltman as BlandAltman
    from agreement.continuous import bland_altman as bland_altman
    from agreement.continuous import icc as icc
    from agreement.continuous import lin_concordance as lin_concordance
    from agreement.errors import AgreementError as AgreementError
    from agreement.gwet import brennan_prediger as brennan_prediger
    from agreement.gwet import gwet_ac as gwet_ac
    from agreement.indices import Indices as Indices
    from agreement.indices import MaximumKappa as MaximumKappa
    from agreement.indices import maximum_kappa as maximum_kappa
    from agreement.indices import prevalence_bias as prevalence_bias
    from agreement.kappas import cohen_kappa as cohen_kappa
    from agreement.kappas import conger_kappa as conger_kappa
    from agreement.kappas import fleiss_kappa as fleiss_kappa
    from agreement.kappas import light_kappa as light_kappa
    from agreement.kappas import scott_pi as scott_pi
    from agreement.percent import percent_agreement as percent_agreement
    from agreement.percent import specific_agreement as specific_agreement
    from agreement.ratings import Ratings as Ratings
    from agreement.ratings import read_ratings as read_ratings
    from agreement.repeats import SelfAgreement as SelfAgreement
    from agreement.repeats import self_agreement as self_agreement
    from agreement.repeats import self_agreements as self_agreements
    from agreement.result import Coefficient as Coefficient
    from agreement.tables import from_counts as from_counts
    from agreement.tables import from_long as from_long
    from agreement.tables import from_table as from_table

_MODULES: dict[str, str] = {
    "AgreementError": "errors",
    "bland_altman": "continuous",
    "BlandAltman": "continuous",
    "brennan_prediger": "gwet",
    "by_label": "breakdown",
    "by_pair": "breakdown",
    "by_stratum": "breakdown",
    "Coefficient": "result",
    "cohen_kappa": "kappas",
    "compare_agreement": "comparison",
    "Comparison": "comparison",
    "conger_kappa": "kappas",
    "fleiss_kappa": "kappas",
    "from_counts": "tables",
    "from_long": "tables",
    "from_table": "tables",
    "gwet_ac": "gwet",
    "icc": "continuous",
    "Indices": "indices",
    "krippendorff_alpha": "alpha",
    "light_kappa": "kappas",
    "lin_concordance": "continuous",
    "maximum_kappa": "indices",
    "MaximumKappa": "indices",
    "percent_agreement": "percent",
    "prevalence_bias": "indices",
    "Ratings": "ratings",
    "read_ratings": "ratings",
    "scott_pi": "kappas",
    "self_agreement": "repeats",
    "self_agreements": "repeats",
    "SelfAgreement": "repeats",
    "specific_agreement": "percent",
}

__all__ = [
    "AgreementError",
    "BlandAltman",
    "Coefficient",
    "Comparison",
    "Indices",
    "MaximumKappa",
    "Ratings",
    "SelfAgreement",
    "bland_altman",
    "brennan_prediger",
    "by_label",
    "by_pair",
    "by_stratum",
    "cohen_kappa",
    "compare_agreement",
    "conger_kappa",
    "fleiss_kappa",
    "from_counts",
    "from_long",
    "from_table",
    "gwet_ac",
    "icc",
    "krippendorff_alpha",
    "light_kappa",
    "lin_concordance",
    "maximum_kappa",
    "percent_agreement",
    "prevalence_bias",
    "read_ratings",
    "scott_pi",
    "self_agreement",
    "self_agreements",
    "specific_agreement",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
