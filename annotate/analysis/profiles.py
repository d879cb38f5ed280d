"""Score impact of a protocol whose scores are of facts: knowledge profiles from graded responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from agreement.impact import ImpactResult, ProfileSetting
from agreement.impact.profile_results import profiles_under_people
from annotate.analysis.corpus import columns_of, load_corpus, load_sample
from annotate.analysis.source import Source
from annotate.results import SIMULATED
from db.records import Protocol

if TYPE_CHECKING:
    from agreement.scores.wikiprofile import Treatment
    from annotate.analysis.whole import Loaded, Wanted

ROLES = ("correct", "incorrect", "partially", "other")


def profile_results(study: Source, protocol: Protocol, found: Loaded | None, wanted: Wanted) -> ImpactResult:
    """Profiles under the judges' labels and, where whole facts or whole questions were labelled, under people's."""
    from annotate.analysis.whole import everything_labelled, options_of

    (rule,) = (rule for rule in protocol.scores if rule.kind == "wikiprofile")
    columns = columns_of(study, protocol, (), (), item=True)
    corpus, notes = load_corpus(study, protocol, columns, found.labels if found else None)
    sample = None if found is None else load_sample(study, protocol, columns, found.labels, found.reference)
    if wanted.target == "auto" and sample is not None and everything_labelled(corpus, sample):
        wanted = replace(wanted, target="population")
    judges = wanted.judges if wanted.judges is not None else columns.judges
    result = profiles_under_people(corpus, sample, judges, setting_of(rule.options, protocol), options_of(wanted, ()))
    simulated = (SIMULATED,) if found is not None and found.labels.simulated else ()
    return replace(result, notes=(*simulated, *result.notes, *notes))


def setting_of(options: Mapping[str, Any], protocol: Protocol) -> ProfileSetting:
    """How the protocol wants grades and profiles made."""
    names = tuple(str(options[role]) for role in ROLES) if all(role in options for role in ROLES) else ()
    return ProfileSetting(
        treatment=cast("Treatment", options.get("treatment", "pair")),
        threshold=float(options.get("threshold", 0.5)),
        labels=names or protocol.label_names,
    )
