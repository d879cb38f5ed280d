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
    from agreement.errors import AgreementError as AgreementError
    from agreement.gwet import brennan_prediger as brennan_prediger
    from agreement.gwet import gwet_ac as gwet_ac
    from agreement.kappas import cohen_kappa as cohen_kappa
    from agreement.kappas import conger_kappa as conger_kappa
    from agreement.kappas import fleiss_kappa as fleiss_kappa
    from agreement.kappas import light_kappa as light_kappa
    from agreement.kappas import scott_pi as scott_pi
    from agreement.percent import percent_agreement as percent_agreement
    from agreement.percent import specific_agreement as specific_agreement
    from agreement.ratings import Ratings as Ratings
    from agreement.ratings import read_ratings as read_ratings
    from agreement.result import Coefficient as Coefficient
    from agreement.tables import from_counts as from_counts
    from agreement.tables import from_long as from_long
    from agreement.tables import from_table as from_table

_MODULES: dict[str, str] = {
    "AgreementError": "errors",
    "brennan_prediger": "gwet",
    "Coefficient": "result",
    "cohen_kappa": "kappas",
    "conger_kappa": "kappas",
    "fleiss_kappa": "kappas",
    "from_counts": "tables",
    "from_long": "tables",
    "from_table": "tables",
    "gwet_ac": "gwet",
    "krippendorff_alpha": "alpha",
    "light_kappa": "kappas",
    "percent_agreement": "percent",
    "Ratings": "ratings",
    "read_ratings": "ratings",
    "scott_pi": "kappas",
    "specific_agreement": "percent",
}

__all__ = [
    "AgreementError",
    "Coefficient",
    "Ratings",
    "brennan_prediger",
    "cohen_kappa",
    "conger_kappa",
    "fleiss_kappa",
    "from_counts",
    "from_long",
    "from_table",
    "gwet_ac",
    "krippendorff_alpha",
    "light_kappa",
    "percent_agreement",
    "read_ratings",
    "scott_pi",
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
