"""annotate judge: run automatic judges, and show those that a study has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from annotate.commands.options import example, json_option, names, study_argument

if TYPE_CHECKING:
    from annotate.judges.outcome import Outcome
    from db.judging import JudgingStore
    from db.records import Protocol

_EXAMPLES = example(
    "annotate judge study.db --judge gpt --model gpt-4.1-mini --dry-run",
    "annotate judge study.db --judge gpt --model gpt-4.1-mini --yes-send-to api.openai.com --max-cost 5",
    "annotate judge study.db --judge rules --rule ehq",
    "annotate judge study.db --judge panel --majority gpt,rules,other",
    "annotate judge study.db",
)


@click.command(epilog=_EXAMPLES)
@study_argument
@click.option("--judge", "name", metavar="NAME", help="The judge's name in the study. Without it: show all judges.")
@click.option("--model", metavar="M", help="An LLM judge: the model to ask.")
@click.option(
    "--task",
    type=click.Choice(("label", "alignment", "grade")),
    default="label",
    show_default=True,
    help="What an LLM judge is asked for.",
)
@click.option(
    "--rule",
    type=click.Choice(("ehq", "exact", "contains")),
    help="A rule judge: ehq's classifier, or matching with the gold answers.",
)
@click.option(
    "--callable", "function", metavar="FILE.py:F", help="Your own Python function as a judge. It is trusted code."
)
@click.option(
    "--command", metavar="CMD", help="Your own command as a judge, JSON lines in and out. It is trusted code."
)
@click.option("--majority", metavar="A,B,C", help="The majority of these judges as a judge.")
@click.option(
    "--prompt",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Your own prompt in place of ours.",
)
@click.option(
    "--base-url", metavar="URL", help="An OpenAI-compatible endpoint.  [default: OPENAI_BASE_URL, else OpenAI]"
)
@click.option(
    "--key-env",
    default="OPENAI_API_KEY",
    show_default=True,
    metavar="VAR",
    help="The environment variable that holds the key.",
)
@click.option(
    "--yes-send-to", metavar="HOST", help="Agree that this study's texts go to HOST. Asked once a study and host."
)
@click.option("--dry-run", is_flag=True, help="Count calls, tokens and price; send and store nothing.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0, min_open=True),
    metavar="USD",
    help="Stop before this judge has cost more, earlier runs included.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N calls in this run.")
@click.option("--sampled", is_flag=True, help="Only responses that were drawn into a sample.")
@click.option(
    "--prices",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Your own price table.  [default: prices.toml in annotate's settings folder, else ours]",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    metavar="K",
    help="Ask K times, for the judge's agreement with itself.",
)
@click.option(
    "--swap", is_flag=True, help="Ask in the other order too: texts of a pair, else labels. Stored as 'NAME (swapped)'."
)
@click.option(
    "--threshold",
    type=click.IntRange(0, 100),
    metavar="T",
    help="Alignment: aligned from T on.  [default: the protocol's, else 70]",
)
@click.option(
    "--map", "mapped", multiple=True, metavar="RAW=LABEL", help="What a raw label of this judge means. Repeatable."
)
@click.option(
    "--output",
    type=click.Choice(("auto", "schema", "json", "text")),
    default="auto",
    show_default=True,
    help="How replies are structured; auto finds out what the endpoint has.",
)
@click.option(
    "--temperature",
    default="auto",
    show_default=True,
    metavar="T",
    help="A number, none (the endpoint's own), or auto (0 where it is allowed).",
)
@click.option(
    "--max-tokens", type=click.IntRange(1), default=1024, show_default=True, metavar="N", help="The longest reply."
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 512),
    default=8,
    show_default=True,
    metavar="N",
    help="Calls under way at once.",
)
@click.option("--rpm", type=click.FloatRange(0, min_open=True), metavar="N", help="At most N calls a minute.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    show_default=True,
    metavar="S",
    help="Seconds for one whole reply; for a command, of silence.",
)
@click.option(
    "--attempts",
    type=click.IntRange(1),
    default=6,
    show_default=True,
    metavar="N",
    help="Tries a response where a call fails for a passing reason.",
)
@click.option("--retry-failed", is_flag=True, help="Ask refusals and other settled failures again too.")
@click.option("--batch", is_flag=True, help="Ask by the Batch API: submit, poll and collect. Run it again to go on.")
@click.option(
    "--batch-size",
    type=click.IntRange(1, 50_000),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Requests a batch.",
)
@click.option(
    "--poll",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="S",
    help="Seconds between looks at a batch.",
)
@click.option("--no-wait", is_flag=True, help="Submit and collect what is there, and do not wait for batches.")
@click.option(
    "--set-version", metavar="TEXT", help="Say of which version an imported judge is, such as its model and date."
)
@click.option(
    "--self-grading",
    is_flag=True,
    help="Show judges: also how often they differ on responses that seem to set their own grade.",
)
@json_option
def judge(study: Path, name: str | None, as_json: bool, **given: Any) -> None:
    """Run an automatic judge, or show the judges of a study.

    A run can be killed at any point: run it again and it goes on, and no stored reply is asked for again. Replies are
    kept as they came; one that is no label is stored as such, a failed call as a failure. The key is read from the
    environment and written nowhere.
    """
    from annotate.judges.identity import set_version
    from annotate.judges.show import show_judges
    from db.judging import JudgingStore

    kinds = [kind for kind in ("model", "rule", "function", "command", "majority") if given[kind]]
    if name is None:
        if kinds:
            raise click.UsageError("Name the judge: --judge NAME.")
        with JudgingStore(study) as store:
            show_judges(store, as_json=as_json, injection=given["self_grading"])
        return
    if given["set_version"] is not None:
        if kinds:
            raise click.UsageError("--set-version is for an imported judge; the version of one that is run is known.")
        with JudgingStore(study) as store:
            set_version(store, name, given["set_version"])
        return
    if len(kinds) != 1:
        raise click.UsageError("Say what the judge is: one of --model, --rule, --callable, --command or --majority.")
    with JudgingStore(study) as store:
        click.get_current_context().exit(_run(store, name.strip(), kinds[0], as_json, given))


def _run(store: JudgingStore, name: str, kind: str, as_json: bool, given: dict[str, Any]) -> int:
    from annotate.judges.mapping import parse_map
    from annotate.protocols import parse_protocol

    if not name:
        raise click.UsageError("A judge needs a name: --judge NAME.")
    found = store.protocol()
    assert found is not None
    protocol = parse_protocol(found[2], found[1])
    mapping = parse_map(given["mapped"], protocol)
    if kind == "model":
        return _run_llm(store, name, protocol, mapping, as_json, given)
    return _run_rule(store, name, kind, protocol, mapping, as_json, given)


def _run_llm(
    store: JudgingStore,
    name: str,
    protocol: Protocol,
    mapping: dict[str, str],
    as_json: bool,
    given: dict[str, Any],
) -> int:
    from annotate.judges.llm import LlmJudge
    from annotate.judges.show import show_forecast, show_outcomes

    judges = [LlmJudge(store, name, protocol, _llm_options(given, mapping, swapped=False))]
    if given["swap"]:
        judges.append(LlmJudge(store, name, protocol, _llm_options(given, mapping, swapped=True)))
    if given["dry_run"]:
        show_forecast(judges, as_json=as_json)
        return 0
    outcomes: list[Outcome] = []
    for each in judges:
        outcomes.append(each.run())
        if outcomes[-1].stopped:
            break
    show_outcomes(store, outcomes, name, as_json=as_json)
    return max(outcome.exit_code for outcome in outcomes)


def _llm_options(given: dict[str, Any], mapping: dict[str, str], *, swapped: bool) -> Any:
    from annotate.judges.batch import BatchRun
    from annotate.judges.llm import LlmOptions
    from annotate.judges.pacing import Patience

    temperature, fixed = _temperature(given["temperature"])
    return LlmOptions(
        model=given["model"],
        task=given["task"],
        prompt=given["prompt"],
        base_url=given["base_url"],
        key_variable=given["key_env"],
        output=None if given["output"] == "auto" else given["output"],
        temperature=temperature,
        temperature_given=fixed,
        max_tokens=given["max_tokens"],
        threshold=given["threshold"],
        swapped=swapped,
        mapping=mapping,
        concurrency=given["concurrency"],
        per_minute=given["rpm"],
        timeout=given["timeout"],
        patience=Patience(attempts=given["attempts"]),
        repeats=given["repeat"],
        limit=given["limit"],
        sampled=given["sampled"],
        retry_failed=given["retry_failed"],
        max_cost=given["max_cost"],
        prices=given["prices"],
        yes_send_to=given["yes_send_to"],
        batch=BatchRun(given["batch_size"], given["poll"], not given["no_wait"]) if given["batch"] else None,
    )


def _temperature(text: str) -> tuple[float | None, bool]:
    if text in ("auto", "none"):
        return (0.0, False) if text == "auto" else (None, True)
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise click.UsageError(f"--temperature {text!r}: expected a number from 0 to 2, none or auto.")
    return value, True


def _run_rule(
    store: JudgingStore,
    name: str,
    kind: str,
    protocol: Protocol,
    mapping: dict[str, str],
    as_json: bool,
    given: dict[str, Any],
) -> int:
    from annotate.judges.rule import RuleOptions, run_rule
    from annotate.judges.show import show_outcomes

    if given["swap"] or given["batch"] or given["dry_run"] or given["max_cost"] is not None:
        raise click.UsageError("--swap, --batch, --dry-run and --max-cost belong to an LLM judge (--model).")
    rule = _rule(store, kind, protocol, given)
    options = RuleOptions(mapping, given["repeat"], given["limit"], given["sampled"], given["retry_failed"])
    outcome = run_rule(store, name, rule, protocol, options)
    show_outcomes(store, [outcome], name, as_json=as_json)
    return outcome.exit_code


def _rule(store: JudgingStore, kind: str, protocol: Protocol, given: dict[str, Any]) -> Any:
    if kind == "majority":
        from annotate.judges.majority import MajorityRule

        return MajorityRule(store, names(given["majority"]))
    if kind in ("command", "function"):
        from annotate.judges.command import callable_rule, command_rule

        make = command_rule if kind == "command" else callable_rule
        return make(given[kind], given["timeout"], protocol.label_names)
    if given["rule"] == "ehq":
        from annotate.judges.ehq_rules import EhqRule

        return EhqRule()
    from annotate.judges.matching import MatchRule

    return MatchRule(given["rule"])
