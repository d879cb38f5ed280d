"""Score impact: how scores and their ranking change when people's labels take the place of the judge's.

Names load on first use. `records` says what goes in, `result` what comes out, `engine` is the way from the one to the
other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agreement.impact.columns import Factor as Factor
    from agreement.impact.counting import counted as counted
    from agreement.impact.engine import Options as Options
    from agreement.impact.engine import judge_scores as judge_scores
    from agreement.impact.engine import score_impact as score_impact
    from agreement.impact.estimate import Estimate as Estimate
    from agreement.impact.profile_impact import ProfileSetting as ProfileSetting
    from agreement.impact.profile_impact import fact_study as fact_study
    from agreement.impact.profile_impact import profile_sweep as profile_sweep
    from agreement.impact.profile_impact import profile_table as profile_table
    from agreement.impact.profile_imputation import imputed_profiles as imputed_profiles
    from agreement.impact.records import Records as Records
    from agreement.impact.records import Sample as Sample
    from agreement.impact.result import ImpactResult as ImpactResult

_HOME = {
    "counted": "counting",
    "Estimate": "estimate",
    "fact_study": "profile_impact",
    "Factor": "columns",
    "ImpactResult": "result",
    "imputed_profiles": "profile_imputation",
    "judge_scores": "engine",
    "Options": "engine",
    "profile_sweep": "profile_impact",
    "profile_table": "profile_impact",
    "ProfileSetting": "profile_impact",
    "Records": "records",
    "Sample": "records",
    "score_impact": "engine",
}

__all__ = [
    "Estimate",
    "Factor",
    "ImpactResult",
    "Options",
    "ProfileSetting",
    "Records",
    "Sample",
    "counted",
    "fact_study",
    "imputed_profiles",
    "judge_scores",
    "profile_sweep",
    "profile_table",
    "score_impact",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
