"""What a user prefers on this machine: theme, plain mode, mouse. One small TOML file in the configuration folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from db.errors import AnnotateError

THEMES = ("dark", "light", "high-contrast")


class Preferences(NamedTuple):
    """``plain``: every command speaks line by line; ``mouse``: the coding screen takes the mouse."""

    theme: str = "dark"
    plain: bool = False
    mouse: bool = True


def config_folder() -> Path:
    """Where this program's configuration lies."""
    base = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    return Path(base or Path.home() / ".config") / "annotate"


def load_preferences() -> Preferences:
    """The stored preferences, the defaults where there are none. Raises AnnotateError where the file makes no sense."""
    path = config_folder() / "preferences.toml"
    if not path.is_file():
        return Preferences()
    import tomllib

    try:
        found = tomllib.loads(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AnnotateError(f"{path}: cannot be read ({error}).", "Correct it, or delete it.") from error
    return _checked(path, found)


def _checked(path: Path, found: dict[str, object]) -> Preferences:
    preferences = Preferences()
    for name, value in found.items():
        if name == "theme" and value in THEMES:
            preferences = preferences._replace(theme=str(value))
        elif name == "plain" and isinstance(value, bool):
            preferences = preferences._replace(plain=value)
        elif name == "mouse" and isinstance(value, bool):
            preferences = preferences._replace(mouse=value)
        else:
            raise AnnotateError(
                f"{path}: {name} = {value!r} is no preference.",
                f"There are theme ({', '.join(THEMES)}), plain and mouse (true, false).",
            )
    return preferences


def save_preferences(preferences: Preferences) -> Path:
    """Store ``preferences``; returns the file. Raises AnnotateError where it cannot be written."""
    path = config_folder() / "preferences.toml"
    lines = [
        f'theme = "{preferences.theme}"',
        f"plain = {str(preferences.plain).lower()}",
        f"mouse = {str(preferences.mouse).lower()}",
    ]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    except OSError as error:
        raise AnnotateError(f"{path}: cannot be written ({error.strerror}).", "Make its folder writable.") from error
    return path


def wants_plain(option: bool | None = None) -> bool:
    """True where a command should speak line by line: asked for, preferred, or the only thing the terminal can do."""
    if option is not None:
        return option
    return os.environ.get("TERM") == "dumb" or load_preferences().plain
