"""Which characters become signs, and which: the tables behind safe text. Loaded when there is something to replace."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NAMED: Final[dict[int, str]] = {
    0x00AD: "SHY",
    0x034F: "CGJ",
    0x061C: "ALM",
    0x115F: "HCF",
    0x1160: "HJF",
    0x180E: "MVS",
    0x200B: "ZWSP",
    0x200C: "ZWNJ",
    0x200D: "ZWJ",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LS",
    0x2029: "PS",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2060: "WJ",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0x3164: "HF",
    0xFEFF: "BOM",
    0xFFA0: "HHF",
    0xFFF9: "IAA",
    0xFFFA: "IAS",
    0xFFFB: "IAT",
}
# Invisible, or able to move what is around them: format characters, default ignorables, noncharacters.
_INVISIBLE: Final[tuple[tuple[int, int], ...]] = (
    (0x0080, 0x009F),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2061, 0x2065),
    (0x206A, 0x206F),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFFF0, 0xFFF8),
    (0xFFFE, 0xFFFF),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
)
_MARKS: Final = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
_MORE_MARKS: Final = "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_EMOJI: Final = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_JOINED: Final = "\u0600-\u07bf\u0840-\u08ff\u0900-\u0dff\u0e80-\u109f\u1780-\u18af\ufb50-\ufdcf\ufe70-\ufefc"


def _token(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"⟨{_NAMED.get(code, f'U+{code:04X}')}⟩"


def _codes() -> list[int]:
    singles = [code for code in range(0x20) if code not in (0x09, 0x0A)] + [0x7F, *_NAMED]
    spans = [code for low, high in _INVISIBLE for code in range(low, high + 1)]
    return singles + spans


_TABLE: Final[dict[int, str]] = {code: _token(code) for code in _codes()}
_SUSPECT: Final = re.compile(
    "["
    + "".join(re.escape(chr(code)) for code in sorted(_TABLE))
    + "\ud800-\udfff\U000e0000-\U000e0fff\U0001f3fb-\U0001f3ff]+"
)
_TAG_RUNS: Final = re.compile("[\U000e0000-\U000e007f]+|[^\U000e0000-\U000e007f]")
_CRLF: Final = re.compile("\r\n")
# One presentation selector after something visible; joiners between two signs that are written joined; skin tones.
_PRESENTATION: Final = re.compile(
    f"(?<=[^\\s\ufe00-\ufe0f])[\ufe0e\ufe0f](?![\ufe00-\ufe0f])"
    f"|(?<=[{_EMOJI}\ufe0f\U0001f3fb-\U0001f3ff])\u200d(?=[{_EMOJI}])"
    f"|(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}\\s.,!?\u060c\u061f])"
    f"|(?<=[{_EMOJI}])[\U0001f3fb-\U0001f3ff]"
)
_STACKED: Final = re.compile(f"([{_MARKS}{_MORE_MARKS}]{{6}})([{_MARKS}{_MORE_MARKS}]+)")
_BARE_MARK: Final = re.compile(f"(^|[\n\t])(?=[{_MARKS}{_MORE_MARKS}])")
_HAS_MARK: Final = re.compile(f"[{_MARKS}{_MORE_MARKS}]")


def with_signs(text: str) -> tuple[str, int]:
    """``text`` with a sign in the place of each character that cannot be seen or could do harm; and their number."""
    if "\r" in text:
        text = _CRLF.sub("\n", text)
    hidden = 0
    if _SUSPECT.search(text):
        text, hidden = _visible(_PRESENTATION.sub("", text))
    if not text.isascii() and _HAS_MARK.search(text):
        text, stacked = _unstack(text)
        hidden += stacked
    return text, hidden


def _visible(text: str) -> tuple[str, int]:
    hidden = 0

    def signs(match: re.Match[str]) -> str:
        nonlocal hidden
        run = match.group()
        hidden += len(run)
        return _signs(run)

    return _SUSPECT.sub(signs, text), hidden


@lru_cache(maxsize=4096)
def _signs(run: str) -> str:
    """The visible form of a run of suspects; letters smuggled in as tag characters are spelled out once."""
    if max(run) >= "\U000e0000":
        return "".join(_spelled(part) for part in _TAG_RUNS.findall(run))
    return "".join(_TABLE.get(ord(sign)) or _token(ord(sign)) for sign in run)


def _spelled(part: str) -> str:
    """One run of tag characters as the letters that they stand for, or one other sign."""
    if not "\U000e0000" <= part[0] <= "\U000e007f":
        return _token(ord(part[0]))
    letters = (chr(code) if 0x20 <= (code := ord(tag) - 0xE0000) < 0x7F else "·" for tag in part)
    return f"⟨tags: {''.join(letters)}⟩"


def _unstack(text: str) -> tuple[str, int]:
    """A mark with nothing to stand on gets a dotted circle; the seventh mark on one letter and all after it a count."""
    hidden = 0

    def count(match: re.Match[str]) -> str:
        nonlocal hidden
        hidden += len(match.group(2))
        return f"{match.group(1)}⟨+{len(match.group(2))} marks⟩"

    return _STACKED.sub(count, _BARE_MARK.sub("\\1\u25cc", text)), hidden
