"""The themes: dark, light and high contrast. A test checks the contrast of every pair of text and ground."""

from __future__ import annotations

from typing import Final

from textual.theme import Theme


def _theme(name: str, *, dark: bool, ansi: bool = False, **colours: str) -> Theme:
    """A theme whose variables name what they are for; the panels and bars use nothing else."""
    return Theme(
        name=name,
        dark=dark,
        ansi=ansi,
        primary=colours["accent"],
        secondary=colours["accent"],
        accent=colours["accent"],
        warning=colours["loud"],
        error=colours["bad"],
        success=colours["good"],
        foreground=colours["text"],
        background=colours["ground"],
        surface=colours["side"],
        panel=colours["side"],
        variables={f"desk-{use}": colour for use, colour in colours.items()},
    )


DARK: Final = _theme(
    "dark",
    dark=True,
    ground="#14171c",
    side="#1b1f26",
    judged="#1d232c",
    text="#d9dde3",
    quiet="#98a1ad",
    strong="#f4f6f8",
    accent="#8ab4f8",
    rule="#3a424d",
    key_ground="#2c3440",
    given_ground="#27405f",
    match_ground="#5c4a12",
    here_ground="#e3b341",
    here="#14171c",
    good="#8fce9b",
    loud="#e9c46a",
    bad="#ff8f86",
)
LIGHT: Final = _theme(
    "light",
    dark=False,
    ground="#fbfaf7",
    side="#f1efe9",
    judged="#ffffff",
    text="#24282d",
    quiet="#5b636d",
    strong="#0b0d0f",
    accent="#0b57a4",
    rule="#c4c0b6",
    key_ground="#e2dfd6",
    given_ground="#d3e3f5",
    match_ground="#f6e7a8",
    here_ground="#7a5200",
    here="#fbfaf7",
    good="#1e6b34",
    loud="#7a4d00",
    bad="#a8201a",
)
CONTRAST: Final = _theme(
    "high-contrast",
    dark=True,
    ground="#000000",
    side="#000000",
    judged="#000000",
    text="#ffffff",
    quiet="#e6e6e6",
    strong="#ffffff",
    accent="#7fd4ff",
    rule="#ffffff",
    key_ground="#003a5c",
    given_ground="#004d00",
    match_ground="#5c3d00",
    here_ground="#ffff00",
    here="#000000",
    good="#7dff8a",
    loud="#ffe000",
    bad="#ffb0a8",
)

THEMES: Final[tuple[Theme, ...]] = (DARK, LIGHT, CONTRAST)
THEME_NAMES: Final = tuple(theme.name for theme in THEMES)
