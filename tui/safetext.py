"""The one choke point between study text and anything a person looks at.

Model output, documents, notes and codebooks are untrusted: they may hold terminal escapes, markup, bidirectional
overrides and characters that take no space. :func:`safe` turns them into :class:`SafeText`, in which every such
character has become a visible one; whatever draws text accepts nothing else. The stored text stays as it came.

What is *not* hidden and changes only how a glyph looks (the emoji presentation selector, joiners inside emoji and
inside scripts that are written with them, skin tones) is left out of the picture without being counted: terminals
disagree on its width, and a drifting column would show a coder the wrong text.
"""

from __future__ import annotations


class SafeText:
    """Text that may be drawn: newlines and tabs are its only control characters.

    ``hidden`` counts the characters of the original that cannot be seen as they are and stand here as signs.
    Made by :func:`safe` alone; two are joined with ``+``.
    """

    __slots__ = ("hidden", "text")

    def __init__(self, text: str, hidden: int = 0) -> None:
        self.text = text
        self.hidden = hidden

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SafeText) and (self.text, self.hidden) == (other.text, other.hidden)

    def __hash__(self) -> int:
        return hash((self.text, self.hidden))

    def __add__(self, other: SafeText) -> SafeText:
        return SafeText(self.text + other.text, self.hidden + other.hidden)

    def __len__(self) -> int:
        return len(self.text)

    def __str__(self) -> str:
        return self.text

    def one_line(self, limit: int = 400) -> SafeText:
        """The same on a single line, for lists and status lines: at most ``limit`` characters of it."""
        lines = self.text[: limit + 1].replace("\t", "\n").split("\n")
        text = " ".join(line for line in lines if line).strip()
        return SafeText(text if len(text) <= limit else text[: limit - 1] + "…", self.hidden)

    @property
    def hidden_note(self) -> str:
        """``""``, ``"1 hidden character"``, ``"3 hidden characters"``."""
        return "" if not self.hidden else f"{self.hidden:,} hidden character{'s' if self.hidden > 1 else ''}"


# Printable ASCII, Latin letters, and the signs that this program itself draws with.
_HARMLESS = frozenset(
    (
        *map(chr, range(0x20, 0x7F)),
        *map(chr, range(0xA1, 0xAD)),
        *map(chr, range(0xAE, 0x180)),
        *"\n\t─━│┃▸·…✓✗⚑✎↷←→↑↓⟨⟩“”‘’–—",
    )
)
_SHORT = 2000


def _harmless(raw: str) -> bool:
    """True where nothing can need a sign: told without the tables, which take a while to load."""
    if raw.isascii():
        return raw.replace("\n", " ").replace("\t", " ").isprintable()
    return len(raw) <= _SHORT and _HARMLESS.issuperset(raw)


def safe(raw: str) -> SafeText:
    """``raw`` as it may be drawn. Takes 1-150 ms per million characters; plain text passes unchanged."""
    if _harmless(raw):
        return SafeText(raw)
    from tui.signs import with_signs

    return SafeText(*with_signs(raw))
