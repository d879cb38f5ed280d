"""Sample intervals that the sample alone would make too narrow: few units differ, or calibration is lost in noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agreement.impact.case import Case
from agreement.impact.estimate import Estimate
from agreement.impact.oncorpus import CorpusPart
from agreement.impact.onsample import SamplePart

FEW = 5
METHOD = "that of the corpus (fewer than 5 units differ)"


def steadied(case: Case, part: str, found: SamplePart, corpus: CorpusPart) -> SamplePart:
    """The sample part with intervals that can be kept.

    Where fewer than five units carry its variation, the spread of the corpus interval around its own estimate is put
    around the sample's value, which it must hold. Where a calibration error is not distinguishable from sampling noise
    with these labels, the interval also covers that of the corpus, whose upper side is open.
    """
    ratio = case.score.ratio(part)
    units = case.sample.take(case.sample.paired)
    if found.n == 0 or bool((units.weight <= 1 + 1e-9).all()):
        return found
    if ratio is None:
        moved = int((np.abs(units.human - units.judge) > 1e-12).any(axis=1).sum())
        held = replace(found, delta=_around(found.delta, corpus.delta)) if moved < FEW else found
        if corpus.human.note is None:
            return held
        return replace(held, delta=_joined(held.delta, corpus.delta), human=_joined(held.human, corpus.human))
    human, judge = units.human @ ratio.numerator, units.judge @ ratio.numerator
    changed = int((np.abs(human - judge) > 1e-12).sum())
    delta = _around(found.delta, corpus.delta) if changed < FEW else found.delta
    _, sizes = np.unique(np.round(human, 9), return_counts=True)
    varied = len(human) - int(sizes.max())
    people = _around(found.human, corpus.human) if varied < FEW else found.human
    return replace(found, delta=delta, human=people)


def _around(value: Estimate, posterior: Estimate) -> Estimate:
    if value.value is None or posterior.value is None or posterior.low is None or posterior.high is None:
        return value
    shift = value.value - posterior.value
    low, high = min(posterior.low + shift, value.value), max(posterior.high + shift, value.value)
    return replace(value, low=low, high=high, se=posterior.se, method=METHOD)


def _joined(value: Estimate, corpus: Estimate) -> Estimate:
    """The interval that covers both, with the note of the corpus."""
    if value.low is None or value.high is None or corpus.low is None or corpus.high is None:
        return value
    return replace(value, low=min(value.low, corpus.low), high=max(value.high, corpus.high), note=corpus.note)
