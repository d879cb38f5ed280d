"""Which key means what: the defaults, the protocol's label keys, and what a user's own file changes.

The file is TOML::

    [keys]
    undo = "z"
    skip = ["k", "f5"]

    [labels.ehq]
    ABSTAIN = "q"

Every key of a mode has one meaning. A file that breaks this is refused, with both meanings named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from db.errors import AnnotateError
from db.records import Protocol
from tui.actions import ACTIONS, BY_NAME, Action, spell
from tui.modes import CODING, Mode
from tui.preferences import config_folder

_NAMED_KEYS: Final = (
    *("left", "right", "up", "down", "pageup", "pagedown", "home", "end"),
    *("tab", "shift+tab", "space", "insert", "delete"),
)
_SPECIAL: Final = frozenset((*_NAMED_KEYS, *(f"f{number}" for number in range(1, 13))))
# Fixed meanings in one mode or another, keys that a terminal does not deliver as such, and the way out.
_NEVER: Final[dict[str, str]] = {
    "enter": "confirm",
    "escape": "close or take back",
    "backspace": "clear",
    "ctrl+i": "Tab on every terminal",
    "ctrl+m": "Enter on every terminal",
    "ctrl+j": "Enter on some terminals",
    "ctrl+h": "Backspace on many terminals",
}
_ALWAYS_LEAVES: Final = "ctrl+c"


class KeymapError(AnnotateError):
    """A keymap that gives one key two meanings, or names a key or an action that is not there."""


class Keymap(NamedTuple):
    """``labels``: key to label name; ``actions``: mode to key to action name; ``keys``: action name to its keys."""

    labels: Mapping[str, str]
    actions: Mapping[Mode, Mapping[str, str]]
    keys: Mapping[str, tuple[str, ...]]

    def action(self, mode: Mode, key: str) -> Action | None:
        """What ``key`` does in ``mode``, labels and fixed keys aside."""
        name = self.actions.get(mode, {}).get(key)
        return None if name is None else BY_NAME[name]

    def label_key(self, label: str) -> str:
        """The key of a label."""
        return next(key for key, name in self.labels.items() if name == label)

    def shown(self, action: str) -> str:
        """The key of an action as a person reads it; empty where it has none."""
        keys = self.keys[action]
        return spell(keys[0]) if keys else ""


def default_path() -> Path:
    """Where a user's own keymap is looked for: ``annotate/keymap.toml`` in the user's configuration folder."""
    return config_folder() / "keymap.toml"


def load_keymap(protocol: Protocol, path: Path | None = None) -> Keymap:
    """The keymap for ``protocol``, changed by the file at ``path`` if there is one. Raises KeymapError."""
    own = {} if path is None else _read(path)
    source = "the default keys" if path is None else str(path)
    return make_keymap(protocol, _own_keys(own, source), _own_labels(own, protocol, source), source)


def make_keymap(
    protocol: Protocol,
    own_keys: Mapping[str, tuple[str, ...]] | None = None,
    own_labels: Mapping[str, str] | None = None,
    source: str = "the default keys",
) -> Keymap:
    """Put the keys together; raises KeymapError where one key would have two meanings in one mode."""
    keys = {action.name: action.keys for action in ACTIONS} | dict(own_keys or {})
    if _ALWAYS_LEAVES not in keys["leave"]:
        keys["leave"] = (*keys["leave"], _ALWAYS_LEAVES)
    named = [(rule.name, (own_labels or {}).get(rule.name, rule.key.casefold())) for rule in protocol.labels]
    labels = _label_keys(named, protocol, source)
    actions = {mode: _action_keys(mode, keys, labels, protocol, source) for mode in Mode}
    return Keymap(labels, actions, keys)


def _label_keys(named: Iterable[tuple[str, str]], protocol: Protocol, source: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    for label, key in named:
        if len(key) != 1 or not key.isprintable() or key.isspace():
            raise KeymapError(f"{source}: the key of {label} is {key!r}, expected one character.")
        if protocol.rating is not None and (key.isdigit() or key == "="):
            raise KeymapError(
                f"{source}: the key {key!r} of {label} is also a key of the rating.", "Give the label a letter."
            )
        if key in labels:
            raise _clash(source, key, f"the label {labels[key]}", f"the label {label}")
        labels[key] = label
    return labels


def _action_keys(
    mode: Mode, keys: Mapping[str, tuple[str, ...]], labels: Mapping[str, str], protocol: Protocol, source: str
) -> dict[str, str]:
    found: dict[str, str] = {}
    for action in ACTIONS:
        if mode not in action.modes:
            continue
        for key in keys[action.name]:
            if mode is Mode.RATING and len(key) == 1 and key.isalpha():
                continue  # while a label waits for its rating no letter means anything
            if mode in CODING and key in labels:
                raise _clash(source, key, f"the label {labels[key]}", action.title.lower())
            if mode in (Mode.RATE, Mode.RATING) and protocol.rating and (key.isdigit() or key == "="):
                raise _clash(source, key, "the rating", action.title.lower())
            if key in found:
                raise _clash(source, key, BY_NAME[found[key]].title.lower(), action.title.lower())
            found[key] = action.name
    return found


def _clash(source: str, key: str, first: str, second: str) -> KeymapError:
    return KeymapError(
        f"{source}: the key {spell(key)} would mean two things: {first} and {second}.", "Give one of them another key."
    )


def _read(path: Path) -> Mapping[str, object]:
    import tomllib  # a user without a keymap does not wait for it

    try:
        with path.open(encoding="utf-8", newline="") as file:
            own = tomllib.loads(file.read())
    except OSError as error:
        raise KeymapError(
            f"{path}: cannot be read ({error.strerror}).", "Check the path of the keymap file."
        ) from error
    except UnicodeDecodeError as error:
        raise KeymapError(f"{path}: is not UTF-8 text.", "Save the keymap file as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise KeymapError(f"{path}: {error}.", 'Write lines such as undo = "z" under [keys].') from error
    unknown = sorted(set(own) - {"keys", "labels"})
    if unknown:
        raise KeymapError(
            f"{path}: there is no section [{unknown[0]}].", "The sections are [keys] and [labels.PROTOCOL]."
        )
    return own


def _own_keys(own: Mapping[str, object], source: str) -> dict[str, tuple[str, ...]]:
    section = own.get("keys", {})
    if not isinstance(section, dict):
        raise KeymapError(f"{source}: 'keys' must be a section.", 'Write [keys], then lines such as undo = "z".')
    return {_known_action(name, source): _keys(name, value, source) for name, value in section.items()}


def _known_action(name: str, source: str) -> str:
    if name not in BY_NAME:
        raise KeymapError(f"{source}: there is no action {name!r}.", f"The actions: {', '.join(BY_NAME)}.")
    return name


def _keys(name: str, value: object, source: str) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(key, str) for key in values):
        raise KeymapError(f"{source}: the keys of {name!r} must be text or a list of texts.", f'Write {name} = "z".')
    return tuple(_checked(str(key), name, source) for key in values)


def _checked(key: str, name: str, source: str) -> str:
    key = "space" if key == " " else key.casefold()
    if key in _NEVER:
        raise KeymapError(
            f"{source}: {spell(key)} cannot be given to {name!r}: it means {_NEVER[key]}.", "Use another."
        )
    plain = len(key) == 1 and key.isprintable()
    control = key.startswith("ctrl+") and len(key) == 6 and key[5].isalpha()
    if not (plain or control or key in _SPECIAL):
        raise KeymapError(
            f"{source}: {key!r} (for {name!r}) is not a key that every terminal has.",
            "Use a character, ctrl+letter, f1 to f12, or one of: " + ", ".join(_NAMED_KEYS) + ".",
        )
    return key


def _own_labels(own: Mapping[str, object], protocol: Protocol, source: str) -> dict[str, str]:
    sections = own.get("labels", {})
    section = sections.get(protocol.name, {}) if isinstance(sections, dict) else None
    if not isinstance(section, dict):
        raise KeymapError(f"{source}: 'labels' must hold sections.", f"Write [labels.{protocol.name}].")
    for name, key in section.items():
        if name not in protocol.label_names:
            raise KeymapError(
                f"{source}: {protocol.name} has no label {name!r}.", f"Its labels: {', '.join(protocol.label_names)}."
            )
        if not isinstance(key, str):
            raise KeymapError(f"{source}: the key of {name} must be text.", f'Write {name} = "x".')
    return {name: str(key).casefold() for name, key in section.items()}
