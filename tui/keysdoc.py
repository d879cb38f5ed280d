"""The key reference as Markdown, from the registry: ``python -m tui.keysdoc > docs/keys.md``."""

from __future__ import annotations

from collections.abc import Iterator

from tui.actions import ACTIONS, FIXED, ROLES, spell
from tui.modes import Mode

HEAD = """\
# Keys of the coding screen

Labels have the letters that the protocol gives them (`annotate protocol show NAME`), in upper or lower case; the
letter labels, saves and goes on. A key that has no meaning in a mode is refused with a notice and changes nothing; the
name of the mode stands at the left of the decision bar. `?` shows the keys in force; the command palette (Ctrl+P) finds
a command by a word.

The keys of actions can be changed in `annotate/keymap.toml` in the configuration folder (`~/.config` unless
XDG_CONFIG_HOME says otherwise), or in the file named by `--keymap`:

```toml
[keys]
undo = "z"              # the action's name, as below, and its key or keys
skip = ["k", "f5"]

[labels.ehq]
ABSTAIN = "e"           # another letter for a label of one protocol
```

A file that gives one key two meanings in one mode is refused, and both are named. Ctrl+C always asks to leave.
"""


def keys_markdown() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_actions(), *_fixed()]) + "\n"


def _actions() -> Iterator[str]:
    for role, title in ROLES.items():
        yield f"## {title}\n"
        yield "| key | name in the keymap | what it does |"
        yield "|---|---|---|"
        for action in ACTIONS:
            if action.role == role:
                keys = ", ".join(f"`{spell(key)}`" for key in action.keys) or "none"
                yield f"| {keys} | `{action.name}` | {action.title}. {action.help} |"
        yield ""


def _fixed() -> Iterator[str]:
    yield "## Inside a panel or a line of input\n"
    yield "These are the same for everyone.\n"
    yield "| mode | key | meaning |"
    yield "|---|---|---|"
    for mode in Mode:
        for fixed in FIXED:
            if fixed.mode is mode:
                yield f"| {mode.value} | `{fixed.keys}` | {fixed.meaning} |"


if __name__ == "__main__":
    print(keys_markdown(), end="")
