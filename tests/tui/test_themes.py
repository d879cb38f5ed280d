"""Contrast by the formula of WCAG 2.1 (relative luminance, section 1.4.3), recomputed here."""

import pytest

from tui.document import Style
from tui.themes import LOOKS, THEMES, styles

GROUNDS = ("ground", "side", "judged")


def luminance(colour):
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_formula():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WCAG's own example of a near miss


@pytest.mark.parametrize("theme", THEMES)
def test_every_text_can_be_read_on_every_ground(theme):
    colours, least = THEMES[theme], 7.0 if theme == "high-contrast" else 4.5
    for name, look in LOOKS.items():
        if not look.text or look.text == "rule":
            continue  # rules and rails carry no words
        for ground in [look.ground] if look.ground else GROUNDS:
            ratio = contrast(colours[look.text], colours[ground])
            assert ratio >= least, f"{theme}: {name} on {ground} has {ratio:.2f}"


def test_every_style_of_a_document_has_a_look():
    for theme in (*THEMES, "terminal"):
        assert set(Style.__args__) <= set(styles(theme))


def test_without_colours_what_is_marked_is_marked_by_weight():
    marked = ("used", "strong", "key", "label", "match", "here", "shared", "own", "mode", "given", "input", "chosen")
    table = styles("terminal")
    for name in marked:
        style = table[name]
        assert style.bold or style.underline or style.reverse or style.italic, name
    # The current place among the places found, the mode and the cursor stand out from what merely is marked.
    assert all(table[name].reverse for name in ("here", "mode", "cursor"))
