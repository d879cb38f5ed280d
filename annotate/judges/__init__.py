"""Automatic judges: run, repeat and compare them inside a study.

``LlmJudge`` asks an OpenAI-compatible endpoint; ``run_rule`` applies a rule, a user's callable or command, or the
majority of other judges. Both store what came back with the study and never ask for a stored reply again.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from annotate.judges.compare import compare_judges, order_check, self_agreement
    from annotate.judges.injection import injection_report, injection_reports, sets_own_grade
    from annotate.judges.llm import LlmJudge, LlmOptions
    from annotate.judges.outcome import Outcome
    from annotate.judges.rule import run_rule

__all__ = [
    "LlmJudge",
    "LlmOptions",
    "Outcome",
    "compare_judges",
    "injection_report",
    "injection_reports",
    "order_check",
    "run_rule",
    "self_agreement",
    "sets_own_grade",
]

_HOME = {
    "LlmJudge": "llm",
    "LlmOptions": "llm",
    "Outcome": "outcome",
    "compare_judges": "compare",
    "injection_report": "injection",
    "injection_reports": "injection",
    "order_check": "compare",
    "run_rule": "rule",
    "self_agreement": "compare",
    "sets_own_grade": "injection",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
