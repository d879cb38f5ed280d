"""Inter-coder agreement: coefficients, intervals, comparisons. Arrays and DataFrames in, frozen dataclasses out.

Names load on first use, so that importing the package costs no more than numpy. To add a public name: one row in `_MODULES`,
one import under `TYPE_CHECKING` and one entry in `__all__`. A public name must differ from every module name in this package
(the import system overwrites an attribute of the package with the module of the same name).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agreement.errors import AgreementError as AgreementError

_MODULES: dict[str, str] = {
    "AgreementError": "errors",
}

__all__ = [
    "AgreementError",
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
