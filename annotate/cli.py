"""The command group. A command is imported when it is called, so that `annotate --help` stays fast."""

from __future__ import annotations

import gc
import importlib
from typing import TYPE_CHECKING, Any

import click

from annotate import __version__
from annotate.commands.options import with_plain

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# name -> (module:attribute, what it does). A test checks each text against the command's own help.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("annotate.commands.demo:demo", "Open a sample study."),
    "init": ("annotate.commands.init:init", "Make a study file."),
    "import": ("annotate.commands.import_:import_", "Bring in items, responses, judge labels and human labels."),
    "count": ("annotate.commands.count:count", "Count responses where they lie, into a small table of cells."),
    "judge": ("annotate.commands.judge:judge", "Run an automatic judge, or show the judges of a study."),
    "sample": ("annotate.commands.sample:sample", "Draw a stratified random sample to code."),
    "assign": ("annotate.commands.assign:assign", "Hand the sample to coders."),
    "freeze": ("annotate.commands.freeze:freeze", "Fix design, protocol and primary score before the first label."),
    "train": ("annotate.commands.train:train", "Train coders on known labels, and show who passed."),
    "check": ("annotate.commands.train:check", "Hide items with known labels in the queues, and show who failed any."),
    "release": ("annotate.commands.release:release", "Put what was held back into the queues, a batch at a time."),
    "code": ("annotate.commands.code:code", "Code responses in the terminal, of a study or of a pack."),
    "serve": ("annotate.commands.serve:serve", "Code in a browser, for coders without a terminal."),
    "pack": ("annotate.commands.pack:pack", "Write what a coder has to do into a sealed file."),
    "recall": ("annotate.commands.recall:recall", "Take back what is in a coder's packs."),
    "merge": ("annotate.commands.merge:merge", "Take in what was coded in packs and copies of a study."),
    "status": ("annotate.commands.status:status", "Show what the study holds and how far coding is."),
    "dashboard": ("annotate.commands.dashboard:dashboard", "Watch a study while people code."),
    "questions": ("annotate.commands.questions:questions", "Show what coders ask about items, and answer."),
    "reassign": ("annotate.commands.reassign:reassign", "Give what a coder has still to do to another one."),
    "rounds": ("annotate.commands.rounds:rounds", "Show the rounds, close and reopen them."),
    "discuss": ("annotate.commands.discuss:discuss", "Write an anonymous sheet of disagreements for a meeting."),
    "adjudicate": (
        "annotate.commands.adjudicate:adjudicate",
        "Decide what coders, or people and judges, differ on.",
    ),
    "agreement": ("annotate.commands.agreement:agreement", "Say how far people agree with each other and the judge."),
    "impact": ("annotate.commands.impact:impact", "Say how much scores and ranking change under people's labels."),
    "report": ("annotate.commands.report:report", "Write the report that goes with a paper."),
    "export": ("annotate.commands.export:export", "Write the labels out for other tools."),
    "coverage": ("annotate.commands.coverage:coverage", "Name units with too few or too many labels."),
    "log": ("annotate.commands.log:log", "Show the history of a unit, a coder or the whole study."),
    "reproduce": (
        "annotate.commands.reproduce:reproduce",
        "Recompute a report from its exported labels alone.",
    ),
    "compare": ("annotate.commands.compare:compare", "Tell two reports apart."),
    "verify": ("annotate.commands.verify:verify", "Check the record: chains, fold, counts and design."),
    "backup": ("annotate.commands.backup:backup", "Copy a study safely, also while people code."),
    "repair": ("annotate.commands.repair:repair", "Recover a damaged study into a new file."),
    "protocol": ("annotate.commands.protocol:protocol", "Show, check or change a protocol."),
    "schema": ("annotate.commands.schema:schema", "Print the JSON Schema of what a command prints with --json."),
    "completion": (
        "annotate.commands.completion:completion",
        "Print what a shell needs to complete commands, options and files.",
    ),
    "doctor": ("annotate.commands.doctor:doctor", "Say what this installation can and cannot do."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        if not gc.isenabled():
            gc.freeze()  # what is loaded stays: collections need not look at it
            gc.enable()
        return with_plain(command)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command from the table, so that no command has to be imported."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        from click.shell_completion import CompletionItem

        return [CompletionItem(name, help=text) for name, (_, text) in COMMANDS.items() if name.startswith(incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"There is no command '{name}'.{_nearest(name)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands, in the order of a study"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    return f" Did you mean '{near[0]}'?" if near else ""


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: annotate demo",
)
@click.version_option(__version__, message="annotate %(version)s")
def cli(**_: Any) -> None:
    """Check an LLM judge against people.

    People label sampled model responses next to gold answers and rationales; annotate says how far they agree with
    each other and with the judge, and how much scores and ranking change when their labels are used.

    Exit codes: 0 done, 1 the answer is no, 2 bad input.
    """
