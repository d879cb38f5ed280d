"""What the command prints: a forecast, the outcome of a run, and the judges of a study side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from annotate.console import emit_json, notice, out, table
from annotate.judges.compare import OrderCheck, SelfAgreement, Share, compare_judges, order_check, self_agreement
from annotate.judges.identity import SWAPPED
from annotate.judges.injection import InjectionReport, injection_reports
from annotate.judges.outcome import Outcome
from db.judging import JudgeCount, JudgingStore

if TYPE_CHECKING:
    from annotate.judges.llm import LlmJudge
    from annotate.judges.plan import Forecast, Plan

UNKNOWN = "unknown"


def show_forecast(judges: Sequence[LlmJudge], *, as_json: bool) -> None:
    """``--dry-run``: nothing is sent or stored."""
    found = [(judge, plan, judge.forecast(plan)) for judge in judges for plan in [judge.plan(measured=True)]]
    if as_json:
        emit_json([_forecast_json(judge, plan, guess) for judge, plan, guess in found])
        return
    for judge, plan, guess in found:
        _print_forecast(judge, plan, guess)


def _forecast_json(judge: LlmJudge, plan: Plan, guess: Forecast) -> dict[str, object]:
    price = judge.price.source if judge.price else None
    return {"judge": judge.name, "host": judge.where.host, "price": price, **asdict(plan), **asdict(guess)}


def _print_forecast(judge: LlmJudge, plan: Plan, guess: Forecast) -> None:
    calls = f"{plan.calls:,} calls to {judge.where.host}"
    calls += f" (model {judge.question.model}, prompt {judge.question.prompt.name})"
    lines = [f"{judge.name}: {calls}", f"  {_counts(plan.responses, plan.stored, plan.not_judged, plan.outside)}"]
    lines.append(
        f"  about {guess.prompt_tokens:,} prompt tokens (a quarter of the bytes) and {guess.completion_tokens:,} reply "
        f"tokens ({guess.most_completion_tokens:,} at most)"
    )
    if judge.price is None or guess.about is None or guess.at_most is None:
        lines.append(f"  price {UNKNOWN}: no price for {judge.question.model!r} in the table (--prices FILE)")
    else:
        lines.append(f"  about ${guess.about:,.4f}, at most ${guess.at_most:,.4f} ({judge.price.source})")
    out().print("\n".join([*lines, "  Nothing was sent."]))


def show_outcomes(store: JudgingStore, outcomes: Sequence[Outcome], name: str, *, as_json: bool) -> None:
    """The outcome of a run, with the judge's agreement with itself and its order check where there are any."""
    again = self_agreement(store, name)
    order = order_check(store, name) if store.judge(name + SWAPPED) is not None else None
    if as_json:
        extra = {"self_agreement": _self_json(again), "order_check": _order_json(order)}
        emit_json({"runs": [outcome.as_json() for outcome in outcomes], **extra})
        return
    for outcome in outcomes:
        _print_outcome(outcome)
    if again.unanimous.n:
        out().print(
            f"Asked again ({again.repeats} times): the same label each time on {_share(again.unanimous)} responses, "
            f"pairs of repeats agree {_share(again.pairs)}."
        )
    if order is not None:
        _print_order(order)


def _print_outcome(outcome: Outcome) -> None:
    done = f"{outcome.done:,} replies stored ({outcome.not_labels:,} no label)"
    done += f", {outcome.failed:,} failed, {outcome.left:,} left"
    before = _counts(outcome.responses, outcome.stored_before, outcome.not_judged, outcome.outside_filter)
    lines = [f"{outcome.judge}: {done}.", f"  {before}"]
    if outcome.attempts:
        cost = f"cost {UNKNOWN}" if outcome.cost is None else f"${outcome.cost:,.4f}"
        tokens = f"{outcome.prompt_tokens:,} + {outcome.completion_tokens:,} tokens"
        lines.append(f"  {outcome.attempts:,} calls ({outcome.rate_limited:,} rate limited), {tokens}, {cost}")
    out().print("\n".join([*lines, *(f"  {note}" for note in outcome.notes)]))
    if outcome.stopped:
        notice(f"Stopped: {outcome.stopped}. What was stored is stored; run it again to go on.")


def _counts(responses: int, stored: int, not_judged: object, outside: int) -> str:
    reasons = dict(not_judged) if isinstance(not_judged, dict) else {}
    parts = [f"{responses:,} responses", f"{stored:,} stored before"]
    parts += [f"{count:,} not judged ({why})" for why, count in sorted(reasons.items())]
    parts += [f"{outside:,} outside the filter or sample"] if outside else []
    return ", ".join(parts)


def _print_order(order: OrderCheck) -> None:
    changed = order.same.n - order.same.k
    lines = [f"Other order: the same label on {_share(order.same)} responses, {changed:,} changed."]
    if order.favours_first or order.favours_second:
        lines.append(
            f"  The text shown first won both times on {order.favours_first:,}, the second on {order.favours_second:,}."
        )
    out().print("\n".join(lines))


def show_judges(store: JudgingStore, *, as_json: bool, injection: bool = False) -> None:
    """All judges of the study, and every pair of them on the responses that both replied on.

    ``injection``: also how often a pair differs on responses that seem to set their own grade, and on all others.
    """
    counts, pairs = store.counts(), compare_judges(store)
    again = {count.name: self_agreement(store, count.name) for count in counts if count.repeats > 1}
    if as_json:
        judges = [{**asdict(c), "self_agreement": _self_json(again.get(c.name))} for c in counts]
        found: dict[str, object] = {
            "judges": judges,
            "pairs": [_pair_json(pair.first, pair.second, pair.agree) for pair in pairs],
        }
        if injection:
            found["self_grading"] = [_injection_json(report) for report in injection_reports(store)]
        emit_json(found)
        return
    if not counts:
        out().print("This study has no judge yet. Import labels, or run one: annotate judge --help")
        return
    columns = ("judge", "kind", "version", "from", "labels", "no label", "failed", "repeats", "same again", "cost")
    table("", columns, [_judge_row(count, again.get(count.name)) for count in counts], right=range(4, 10))
    if injection:
        _print_injection(injection_reports(store))
    if pairs:
        rows = [(pair.first, pair.second, f"{pair.agree.n:,}", _percent(pair.agree)) for pair in pairs]
        table("Judge against judge, as mapped", ("judge", "judge", "responses", "same label"), rows, right=(2, 3))


def _judge_row(count: JudgeCount, again: SelfAgreement | None) -> tuple[str, ...]:
    unknown = UNKNOWN if count.kind == "llm" else ""
    cost = unknown if count.cost is None else f"${count.cost:,.4f}"
    numbers = (f"{count.labels:,}", f"{count.not_labels:,}", f"{count.failed:,}", str(count.repeats))
    return (
        count.name,
        count.kind,
        count.version,
        _from(count),
        *numbers,
        _percent(again.unanimous) if again else "",
        cost,
    )


def _from(count: JudgeCount) -> str:
    """Where a judge comes from, in a few words."""
    origin = count.origin
    if "base_url" in origin:
        order = ", other order" if origin.get("swapped") else ""
        return f"{origin['base_url'].partition('://')[2]}, prompt {origin['prompt']}{order}"
    said = origin.get("rule") or origin.get("of") or origin.get("command") or count.files or origin.get("import") or ""
    return said if isinstance(said, str) else ", ".join(map(str, said))


def _print_injection(reports: Sequence[InjectionReport]) -> None:
    rows = [(r.first, r.second, _share(r.attempts), _share(r.others)) for r in reports]
    columns = ("judge", "judge", "differ where a response seems to set its own grade", "differ elsewhere")
    table("Responses that seem to set their own grade", columns, rows, right=(2, 3))


def _injection_json(report: InjectionReport) -> dict[str, object]:
    shares = {"attempts": _share_json(report.attempts), "others": _share_json(report.others), "excess": report.excess}
    counts = {"towards": dict(report.towards), "kinds": dict(report.kinds)}
    return {"first": report.first, "second": report.second, **shares, **counts}


def _share(share: Share) -> str:
    return f"{share.k:,} of {share.n:,} ({_percent(share)})"


def _percent(share: Share) -> str:
    return "undefined" if share.share is None else f"{100 * share.share:.1f} %"


def _share_json(share: Share) -> dict[str, object]:
    return {"k": share.k, "n": share.n, "share": share.share, "why": share.why or None}


def _pair_json(first: str, second: str, agree: Share) -> dict[str, object]:
    return {"first": first, "second": second, "same_label": _share_json(agree)}


def _self_json(again: SelfAgreement | None) -> dict[str, object] | None:
    if again is None or not again.unanimous.n:
        return None
    return {
        "repeats": again.repeats,
        "unanimous": _share_json(again.unanimous),
        "pairs": _share_json(again.pairs),
        "by_label": {label: _share_json(share) for label, share in again.by_label.items()},
    }


def _order_json(order: OrderCheck | None) -> dict[str, object] | None:
    if order is None:
        return None
    counts = {"favours_first": order.favours_first, "favours_second": order.favours_second}
    return {"same": _share_json(order.same), **counts}
