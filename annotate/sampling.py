"""Planning a sample: how many of each stratum, how wide the intervals will be, and whether that is worth coding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from db.errors import AnnotateError
from db.faults import Refused
from db.records import MISSING_LABEL, Protocol
from db.samples import Sample, Stratum, UnitKind, current_sample
from db.sampling import StrataCounts, draw, strata_counts
from db.study import Study

if TYPE_CHECKING:
    from agreement.allocation import Allocation
    from agreement.expected_precision import Precision
    from annotate.counting.corpus import SourceCorpus

JUDGE_LABEL, MODEL = "judge_label", "model"
LEAST, ENOUGH = 2, 10
"""Units that a stratum needs for a variance, and labels that a cell needs to be seen at all."""
PLANNED_AGREEMENT = 0.85
ALIGNED = ("aligned", "not aligned")


class CannotSample(AnnotateError):
    """A sample that the study cannot give; the message has the arithmetic."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked: n sampling units (responses, or items) by strata. ``agreement``: planned chance that people give
    the judge's label, by label, '' for all others. ``corpus``: what is drawn from, where not the study's own responses.
    """

    n: int
    by: tuple[str, ...]
    allocation: str
    unit: UnitKind
    seed: str
    judge: str | None
    agreement: Mapping[str, float]
    combine: bool = False
    anyway: bool = False
    corpus: SourceCorpus | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A request worked out. ``refused``: why it should not be drawn ('' if nothing speaks against it)."""

    request: Request
    strata: tuple[Stratum, ...]
    excluded: Mapping[str, int]
    precision: Precision
    refused: str
    remedy: str

    @property
    def population(self) -> int:
        return sum(stratum.population for stratum in self.strata)

    @property
    def drawn(self) -> int:
        return sum(stratum.drawn for stratum in self.strata)


def main_judge(names: Sequence[str], wanted: str | None) -> str | None:
    """The judge to stratify on: the one named, or the only one. Raises AnnotateError where several could be meant."""
    if wanted is not None and wanted not in names:
        raise AnnotateError(f"There is no judge {wanted!r}.", f"Judges: {', '.join(names) or 'none'}.")
    if wanted is None and len(names) > 1:
        raise AnnotateError(f"There are {len(names)} judges: {', '.join(names)}.", "Say which one with --judge.")
    return wanted or next(iter(names), None)


def judge_names(study: Study) -> tuple[str, ...]:
    """The judges of a study, in the order in which they came in."""
    from db.judge_maps import mapping_digests

    return tuple(mapping_digests(study.connection))


def make_plan(study: Study, protocol: Protocol, request: Request) -> Plan:
    """Strata, sizes and expected widths of a request. Raises CannotSample where it is impossible."""
    counts = _counted(study, protocol, request, request.by)
    if request.n > counts.population:
        raise _too_many(request, counts)
    cells = _cells(study, protocol, request)
    present = current_sample(study)
    kept = _kept(present, request) if present is not None else {}
    tried: tuple[tuple[Stratum, ...], Precision] | None = None
    for floor in range(LEAST, ENOUGH + 1):
        if _needed(counts, floor) > request.n:
            break
        strata = _allocated(study, request, counts, floor, kept)
        found = (strata, _precision(protocol, request, strata, cells))
        if not found[1].thin:
            return Plan(request, *found[:1], counts.excluded, found[1], "", "")
        tried = tried or found
    if tried is None:
        raise _too_few(request, counts)
    return Plan(request, tried[0], counts.excluded, tried[1], *_thin(tried[1], request, counts))


def draw_plan(study: Study, protocol: Protocol, plan: Plan) -> Sample:
    """Draw what was planned and put it in force. Raises Refused, also where the plan speaks against it."""
    request = plan.request
    if plan.refused and not request.anyway:
        raise Refused(plan.refused, plan.remedy)
    if request.corpus is not None:
        return request.corpus.draw(
            study,
            plan.strata,
            seed=request.seed,
            by=request.by,
            allocation=request.allocation,
            unit=request.unit,
            judge=_judge_of(request, request.by),
            filters=protocol.filters,
        )
    return draw(
        study,
        plan.strata,
        seed=request.seed,
        by=request.by,
        allocation=request.allocation,
        unit=request.unit,
        judge=_judge_of(request, request.by),
        filters=protocol.filters,
        combine=request.combine,
    )


def plan_facts(plan: Plan) -> dict[str, Any]:
    """A plan as plain JSON values."""
    precision, request = plan.precision, plan.request
    return {
        "n": plan.drawn,
        "population": plan.population,
        "unit": request.unit,
        "by": list(request.by),
        "allocation": request.allocation,
        "seed": request.seed,
        "judge": request.judge,
        "strata": [
            {"stratum": dict(s.values), "population": s.population, "drawn": s.drawn, "pi": s.drawn / s.population}
            for s in plan.strata
        ],
        "excluded": dict(plan.excluded),
        "expected_width": [
            {"model": w.model, "label": w.label, "width": w.width, "labels": w.labels, "records": w.size}
            for w in precision.models
        ],
        "expected_pair_width": [
            {"first": w.first, "second": w.second, "label": w.label, "width": w.width, "detectable": w.detectable}
            for w in precision.pairs
        ],
        "thin": [
            {"model": c.model, "judge_label": c.judge, "labels": c.labels, "records": c.size} for c in precision.thin
        ],
        "refused": plan.refused or None,
    }


# --- counting ---------------------------------------------------------------------------------------


def _judge_of(request: Request, by: Sequence[str]) -> str | None:
    return request.judge if JUDGE_LABEL in by else None


def _counted(
    study: Study, protocol: Protocol, request: Request, by: Sequence[str], unit: UnitKind | None = None
) -> StrataCounts:
    if JUDGE_LABEL in by and request.judge is None:
        raise CannotSample("There is no judge in this study.", "Leave judge_label out of --by: --by model")
    judge = _judge_of(request, by)
    if request.corpus is not None:
        return request.corpus.strata_counts(by, unit=unit or request.unit, judge=judge, filters=protocol.filters)
    return strata_counts(study, by, unit=unit or request.unit, judge=judge, filters=protocol.filters)


def _cells(study: Study, protocol: Protocol, request: Request) -> tuple[Stratum, ...]:
    """Responses by stratum, model and judge label: what the expected widths are worked out from."""
    wanted = [*request.by, MODEL, *([JUDGE_LABEL] if request.judge else [])]
    return _counted(study, protocol, request, tuple(dict.fromkeys(wanted)), "response").strata


def _kept(present: Sample, request: Request) -> dict[tuple[str, ...], int]:
    """What the sample in force already holds of each stratum, where this request would enlarge it."""
    same = (present.kind, present.seed, present.unit, present.strata_by, present.combined)
    if same != ("draw", request.seed, request.unit, request.by, False):
        return {}
    return {_key(stratum, request.by): stratum.drawn for stratum in present.strata}


def _key(stratum: Stratum, by: Sequence[str]) -> tuple[str, ...]:
    return tuple(str(stratum.values[name]) for name in by)


# --- allocating -------------------------------------------------------------------------------------


def _allocated(
    study: Study, request: Request, counts: StrataCounts, floor: int, kept: Mapping[tuple[str, ...], int]
) -> tuple[Stratum, ...]:
    """Sizes by the rule; a stratum never gets fewer than the sample in force holds of it."""
    from agreement.allocation import allocate

    method = cast("Allocation", request.allocation)
    spread = _deviations(study, request, counts) if method == "neyman" else None
    held = [kept.get(_key(stratum, request.by), 0) for stratum in counts.strata]
    fixed: dict[int, int] = {}
    while True:
        free = [i for i in range(len(held)) if i not in fixed]
        left = request.n - sum(fixed.values())
        if left < 0:
            raise CannotSample(f"n={request.n}: the sample in force already holds {sum(held)}.", "Ask for more.")
        if not free:
            break
        sizes = [counts.strata[i].population for i in free]
        deviations = None if spread is None else [spread[i] for i in free]
        found = dict(zip(free, allocate(sizes, left, method, deviations=deviations, floor=floor).tolist(), strict=True))
        short = {i: held[i] for i in free if found[i] < held[i]}
        if not short:
            fixed |= found
            break
        fixed |= short
    return tuple(replace(stratum, drawn=fixed[i]) for i, stratum in enumerate(counts.strata))


def _deviations(study: Study, request: Request, counts: StrataCounts) -> list[float]:
    """Standard deviation of "people disagree with the judge" in each stratum, as planned or as labels so far show."""
    from agreement.allocation import binary_deviations

    if JUDGE_LABEL not in request.by:
        raise CannotSample("Neyman allocation needs strata by the judge's label.", "Add judge_label to --by.")
    if not request.agreement:
        raise CannotSample(
            "Neyman allocation needs to know how often people will agree with each of the judge's labels.",
            "Say so with --expect CORRECT=.9,WRONG=.8,…, or use --allocation sqrt, which needs no guess.",
        )
    said = [str(stratum.values[JUDGE_LABEL]) for stratum in counts.strata]
    default = request.agreement.get("", PLANNED_AGREEMENT)
    return [float(spread) for spread in binary_deviations([request.agreement.get(label, default) for label in said])]


def _precision(protocol: Protocol, request: Request, strata: Sequence[Stratum], cells: Sequence[Stratum]) -> Precision:
    from agreement.expected_precision import expected_precision

    rate = {_key(stratum, request.by): stratum.drawn / stratum.population for stratum in strata}
    said = [str(cell.values.get(JUDGE_LABEL, MISSING_LABEL)) for cell in cells]
    default = request.agreement.get("", PLANNED_AGREEMENT)
    return expected_precision(
        labels=protocol.label_names or ALIGNED,
        model=[str(cell.values[MODEL]) for cell in cells],
        judge=said,
        size=[cell.population for cell in cells],
        planned=[cell.population * rate[_key(cell, request.by)] for cell in cells],
        accuracy={label: request.agreement.get(label, default) for label in said},
    )


# --- refusing ---------------------------------------------------------------------------------------


def _needed(counts: StrataCounts, floor: int) -> int:
    return sum(min(floor, stratum.population) for stratum in counts.strata)


def _too_many(request: Request, counts: StrataCounts) -> CannotSample:
    what = "responses" if request.unit == "response" else "items"
    parts = ", ".join(f"{number:,} left out: {reason}" for reason, number in counts.excluded.items())
    if not counts.population and not parts:
        return CannotSample(f"There are no {what} to draw from yet.", "'annotate import' brings them in.")
    hint = f"Ask for {counts.population:,} or fewer."
    return CannotSample(
        f"n={request.n:,} is more than the {counts.population:,} {what}{f' ({parts})' if parts else ''}.", hint
    )


def _too_few(request: Request, counts: StrataCounts) -> CannotSample:
    least = _needed(counts, LEAST)
    small = sum(stratum.population < LEAST for stratum in counts.strata)
    alone = f" ({small} of them hold a single one)" if small else ""
    return CannotSample(
        f"n={request.n:,} cannot give each of {len(counts.strata):,} strata by {', '.join(request.by)} "
        f"the {LEAST} units that a variance needs{alone}: that takes {least:,}.",
        f"Take --n {least:,} or more, or fewer strata.",
    )


def _thin(precision: Precision, request: Request, counts: StrataCounts) -> tuple[str, str]:
    thin = precision.thin
    cells = "; ".join(f"{c.model}, judge says {c.judge}: {c.labels:.3g} of {c.size}" for c in thin[:4])
    more = f"; and {len(thin) - 4} more" if len(thin) > 4 else ""
    message = f"{len(thin)} cells would get fewer than {ENOUGH} labels, so that the judge's errors there cannot be seen"
    enough = _needed(counts, ENOUGH)
    direct = {MODEL, JUDGE_LABEL} <= set(request.by) and request.unit == "response"
    hint = f"Take --n {enough:,} or more" if direct and enough > request.n else "Take a larger --n"
    if request.unit == "response" and not direct:
        hint += ", or --by model,judge_label"
    return f"{message} ({cells}{more}).", f"{hint}; --anyway draws it as it is."
