"""What untrusted text becomes. Expected signs are written by hand; the properties hold for every character."""

import ast
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.safetext import safe

TUI = Path(__file__).resolve().parents[2] / "tui"


@pytest.mark.parametrize(
    ("raw", "shown", "hidden"),
    [
        ("plain text, [a-z]+ and {braces}", "plain text, [a-z]+ and {braces}", 0),
        ("two\nlines\tand a tab", "two\nlines\tand a tab", 0),
        ("dos\r\nline", "dos\nline", 0),
        ("over\rprinted", "over␍printed", 1),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m", 2),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇", 2),
        ("\x1b]8;;http://x\x1b\\link", "␛]8;;http://x␛\\link", 2),
        ("nul\0del\x7f", "nul␀del␡", 2),
        ("c1 \x9b31m", "c1 ⟨U+009B⟩31m", 1),
        ("\u202eevil\u202c", "⟨RLO⟩evil⟨PDF⟩", 2),
        ("\u2066a\u2069", "⟨LRI⟩a⟨PDI⟩", 2),
        ("zero\u200bwidth\ufeff", "zero⟨ZWSP⟩width⟨BOM⟩", 2),
        ("\U000e0048\U000e0069", "⟨tags: Hi⟩", 2),
        ("a\U000e0100\U000e0101", "a⟨U+E0100⟩⟨U+E0101⟩", 2),
        ("lone \ud800 surrogate", "lone \ufffd surrogate", 1),
        ("[@click=app.quit]x[/]", "[@click=app.quit]x[/]", 0),
        ("e\u0301", "e\u0301", 0),
        ("\u0301x", "\u25cc\u0301x", 0),
        ("e" + "\u0301" * 9, "e" + "\u0301" * 6 + "⟨+3 marks⟩", 3),
        # What only changes the look of a glyph is left out, and is not hidden text.
        ("\u26a0\ufe0f", "\u26a0", 0),
        ("\u26a0\ufe0f\ufe0f", "\u26a0⟨U+FE0F⟩⟨U+FE0F⟩", 2),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469", 0),
        ("\U0001f44d\U0001f3fd", "\U0001f44d", 0),
        ("\u0645\u06cc\u200c\u062e\u0648", "\u0645\u06cc\u062e\u0648", 0),
        ("pay\u200dpal", "pay⟨ZWJ⟩pal", 1),
    ],
)
def test_signs(raw, shown, hidden):
    made = safe(raw)
    assert (made.text, made.hidden) == (shown, hidden)


# Format characters that are drawn: Arabic number signs and the joiners of Egyptian hieroglyphs.
DRAWN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def test_no_control_or_format_character_passes():
    passed = [
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        and code not in DRAWN
        and code not in (0x09, 0x0A)
        and chr(code) in safe(f"a{chr(code)}b").text
    ]
    assert passed == []


@given(st.text(st.characters(exclude_categories=())))
def test_safe_text_is_encodable_and_stays_as_it_is(raw):
    made = safe(raw)
    made.text.encode("utf-8")
    again = safe(made.text)
    assert again.hidden == 0
    assert safe(again.text) == again


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_printable_ascii_passes_unchanged(raw):
    assert safe(raw).text == raw


def test_one_line():
    assert str(safe("a\n\n\tb").one_line()) == "a b"
    assert str(safe("x" * 500).one_line(10)) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("hidden", "note"), [("", ""), ("\0", "1 hidden character"), ("\0" * 1200, "1,200 hidden characters")]
)
def test_the_count_in_words(hidden, note):
    assert safe(hidden).hidden_note == note


def test_only_the_choke_point_makes_safe_text():
    makers = [
        path.name
        for path in TUI.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "SafeText"
    ]
    assert set(makers) == {"safetext.py"}
