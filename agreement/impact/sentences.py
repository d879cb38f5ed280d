"""One plain sentence per model: what happened to its score and rank, and never more than the data support."""

from __future__ import annotations

from agreement.impact.estimate import Estimate
from agreement.impact.ranking import Ranking

LIKELY = 0.5
NO_SAMPLE = "no human labels"


def number(value: float, signed: bool = False) -> str:
    """Three decimals without a leading zero: .332, -.041, 1.000."""
    text = f"{value:+.3f}" if signed else f"{value:.3f}"
    sign = text[0] if text[0] in "+-" else ""
    digits = text[len(sign) :]
    if float(text) == 0:
        sign = ""
    return sign + (digits[1:] if digits.startswith("0.") else digits)


def model_sentence(
    part: str, judge: Estimate, human: Estimate, delta: Estimate, model: str, ranking: Ranking | None
) -> str:
    """What happened to one part of one model on the whole corpus."""
    if judge.value is None:
        return f"{part} is undefined under the judge: {judge.reason}."
    if human.value is None and human.reason == NO_SAMPLE:
        return f"{part} is {number(judge.value)} under the judge; there are no human labels."
    if human.value is None:
        return (
            f"{part} is {number(judge.value)} under the judge; under people's labels it is undefined: {human.reason}."
        )
    change = _change(part, judge.value, human.value, delta)
    rank = "" if ranking is None else _rank(model, ranking, certain=delta.low == delta.high)
    note = f" ({human.note})" if human.note else ""
    return f"{change}{rank}{note}."


def _change(part: str, judge: float, human: float, delta: Estimate) -> str:
    if delta.value is None or delta.low is None or delta.high is None:
        return (
            f"{part} is {number(judge)} under the judge and {number(human)} under people's labels, without an interval"
        )
    span = f"({number(delta.value, signed=True)}, {delta.level:.0%} {number(delta.low)} to {number(delta.high)})"
    span = span.replace("%", " %")
    if delta.value == delta.low == delta.high:
        return _certain(part, judge, human, delta.value)
    if delta.excludes_zero:
        verb = "falls" if delta.value < 0 else "rises"
        return f"{part} {verb} from {number(judge)} to {number(human)} {span}"
    return (
        f"{part} shows no clear change: {number(judge)} under the judge, {number(human)} under people's labels {span}"
    )


def _certain(part: str, judge: float, human: float, delta: float) -> str:
    """Every record that matters has a human label: there is nothing left to estimate."""
    if abs(delta) < 5e-13:
        return f"{part} is {number(human)} under both"
    verb = "falls" if delta < 0 else "rises"
    span = f"({number(delta, signed=True)}, every record is labelled)"
    return f"{part} {verb} from {number(judge)} to {number(human)} {span}"


def _rank(model: str, ranking: Ranking, certain: bool) -> str:
    if model not in ranking.models or len(ranking.models) < 2:
        return ""
    before = ranking.judge_rank[ranking.models.index(model)]
    after, probability = ranking.likeliest(model)
    chance = "> .99" if probability >= 0.995 else f"{probability:.2f}".lstrip("0")
    if certain:
        known = ranking.human_rank[ranking.models.index(model)]
        return f"; rank {before:g}" + (" stays" if known == before else f" to {known:g}")
    if probability < LIKELY:
        return (
            f"; rank {before:g} under the judge, not settled under people's labels ({after} with probability {chance})"
        )
    if after == before:
        return f"; rank {before:g} stays with probability {chance}"
    return f"; rank {before:g} to {after} with probability {chance}"
