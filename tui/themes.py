"""The themes: what each use of colour looks like. A test checks the contrast of every pair of text and ground.

The desk draws its lines itself, so that a theme is a table of colours by use and a table of styles made of them; there
is no style sheet to match against. Whatever a colour says is said by a word or a sign as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from rich.style import Style

Colours = Mapping[str, str]

DARK: Final[Colours] = {
    "ground": "#14171c",
    "side": "#1b1f26",
    "judged": "#1d232c",
    "text": "#d9dde3",
    "quiet": "#98a1ad",
    "strong": "#f4f6f8",
    "accent": "#8ab4f8",
    "rule": "#3a424d",
    "key": "#2c3440",
    "given": "#27405f",
    "match": "#5c4a12",
    "here": "#e3b341",
    "on_accent": "#14171c",
    "good": "#8fce9b",
    "loud": "#e9c46a",
    "bad": "#ff8f86",
}
LIGHT: Final[Colours] = {
    "ground": "#fbfaf7",
    "side": "#f1efe9",
    "judged": "#ffffff",
    "text": "#24282d",
    "quiet": "#5b636d",
    "strong": "#0b0d0f",
    "accent": "#0b57a4",
    "rule": "#c4c0b6",
    "key": "#e2dfd6",
    "given": "#d3e3f5",
    "match": "#f6e7a8",
    "here": "#7a5200",
    "on_accent": "#fbfaf7",
    "good": "#1e6b34",
    "loud": "#7a4d00",
    "bad": "#a8201a",
}
HIGH_CONTRAST: Final[Colours] = {
    "ground": "#000000",
    "side": "#000000",
    "judged": "#000000",
    "text": "#ffffff",
    "quiet": "#e6e6e6",
    "strong": "#ffffff",
    "accent": "#7fd4ff",
    "rule": "#ffffff",
    "key": "#003a5c",
    "given": "#004d00",
    "match": "#5c3d00",
    "here": "#ffff00",
    "on_accent": "#000000",
    "good": "#7dff8a",
    "loud": "#ffe000",
    "bad": "#ffb0a8",
}
# The terminal's own sixteen colours on its own ground: for terminals that have no others.
TERMINAL: Final[Colours] = {
    **dict.fromkeys(("ground", "side", "judged", "text", "quiet", "strong", "rule"), "default"),
    **dict.fromkeys(("key", "given", "match", "here", "on_accent"), "default"),
    "accent": "default",
    "good": "default",
    "loud": "default",
    "bad": "default",
}


class Look(NamedTuple):
    """How a use of text is drawn: foreground and ground by use (empty: as around it), and in which weight."""

    text: str = ""
    ground: str = ""
    weight: str = ""


LOOKS: Final[Mapping[str, Look]] = {
    "ground": Look("text", "ground"),
    "side": Look("text", "side"),
    "judged": Look("", "judged"),
    "title": Look("quiet"),
    "used": Look("accent", "", "bold"),
    "gutter": Look("quiet"),
    "bar": Look("accent"),
    "rail": Look("rule"),
    "thumb": Look("quiet"),
    "strong": Look("strong", "", "bold"),
    "quiet": Look("quiet"),
    "key": Look("strong", "key", "bold"),
    "label": Look("accent", "", "bold"),
    "name": Look("text"),
    "match": Look("strong", "match", "underline"),
    "here": Look("on_accent", "here", "bold reverse"),
    "shared": Look("good", "", "underline"),
    "own": Look("bad", "", "bold italic"),
    "mode": Look("on_accent", "accent", "bold reverse"),
    "given": Look("strong", "given", "bold"),
    "good": Look("good"),
    "bad": Look("bad", "", "bold"),
    "loud": Look("loud"),
    "input": Look("strong", "key", "bold"),
    "cursor": Look("", "", "reverse"),
    "chosen": Look("strong", "given", "bold"),
    "filled": Look("accent"),
    "empty": Look("rule"),
}

THEMES: Final[Mapping[str, Colours]] = {"dark": DARK, "light": LIGHT, "high-contrast": HIGH_CONTRAST}
"""The themes that a user can choose; ``terminal`` is taken where there are sixteen colours or fewer."""


@lru_cache(maxsize=8)
def styles(theme: str) -> Mapping[str, Style]:
    """The style of each look in a theme."""
    colours = THEMES.get(theme, TERMINAL)
    plain = colours is TERMINAL
    return {name: _style(look, colours, plain) for name, look in LOOKS.items()}


def _style(look: Look, colours: Colours, plain: bool) -> Style:
    """``reverse`` is for terminals without colours: where there are some, ground and text say it."""
    weight = look.weight.split()
    if plain and look.ground in ("key", "given", "match"):
        weight.append("underline")
    return Style(
        color=colours[look.text] if look.text else None,
        bgcolor=colours[look.ground] if look.ground else None,
        bold="bold" in weight or None,
        italic="italic" in weight or None,
        underline="underline" in weight or None,
        reverse=("reverse" in weight and (plain or not look.text)) or None,
    )
