"""The facts of one response as expressions of an engine, and the readers of text that they are made with.

Each reader says the same as its counterpart in `annotate.recipes.values`, which reads the rows that are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Expression = Any  # an ibis expression; ibis has no types that a checker could follow
Path = tuple[str, ...]

POINTS = 1_000_000_000
"""Confidences are compared as whole billionths: nine decimals, exactly."""
BLANKS = "".join(character for character in map(chr, range(0x3001)) if character.isspace())
"""What `str.strip` takes away."""
_YES, _NO = ("true", "yes", "y", "t", "1"), ("false", "no", "n", "f", "0")


@dataclass(frozen=True, slots=True)
class Tools:
    """What each engine spells in its own way: trim(text, characters), json(text, key), hash(parts) to 64 bits."""

    trim: Callable[[Expression, str], Expression]
    json: Callable[[Expression, str], Expression]
    hash: Callable[..., Expression]

    def strip(self, text: Expression) -> Expression:
        """Blanks at both ends go; nothing left is missing."""
        return self.trim(text, BLANKS).nullif("")


@dataclass(frozen=True, slots=True)
class Facts:
    """One response. ``problem``: why the record cannot be counted, null where it can.

    ``raw`` and ``scores``: what each judge said. Confidence is a whole number on ``grid``; ``searched`` and
    ``is_key`` are 1, 0 or null, ``usable`` is 1 or 0.
    """

    problem: Expression
    item: Expression
    model: Expression
    condition: Expression
    repeat: Expression
    failure: Expression
    strata: Mapping[str, Expression] = field(default_factory=dict)
    raw: Mapping[str, Expression] = field(default_factory=dict)
    scores: Mapping[str, Expression] = field(default_factory=dict)
    confidence: Expression = None
    grid: Expression = None
    usable: Expression = None
    searched: Expression = None
    choice: Expression = None
    is_key: Expression = None


@dataclass(frozen=True, slots=True)
class Read:
    """A value that was read, and whether its text was none of what it should be."""

    value: Expression
    wrong: Expression


def whole(text: Expression) -> Read:
    """A whole number, also written as 3.0; a column of whole numbers is one."""
    import ibis

    if text.type().is_integer():
        return Read(text.cast("int64"), ibis.literal(False))
    number = text.try_cast("decimal(28, 9)")
    value = number.cast("int64")
    wrong = text.notnull() & (number.isnull() | (value.cast("decimal(28, 9)") != number)).fill_null(True)
    return Read(value, wrong)


def number(text: Expression) -> Read:
    """A finite number; NaN and infinity are missing."""
    import ibis

    value = text.try_cast("float64")
    finite = value.notnull() & ~value.isnan() & ~value.isinf()
    return Read(ibis.ifelse(finite, value, ibis.null("float64")), text.notnull() & value.isnull())


def yes_no(text: Expression) -> Read:
    """1, 0 or null; a column of truth values is one, and may be of whole numbers."""
    import ibis

    if text.type().is_boolean():
        return Read(text.cast("int64"), ibis.literal(False))
    low = text.cast("string").lower()
    value = ibis.cases((low.isin(_YES), 1), (low.isin(_NO), 0), else_=ibis.null("int64")).cast("int64")
    return Read(value, text.notnull() & value.isnull())


def confidence(text: Expression, scale: int, grid: int | None) -> tuple[Read, Expression]:
    """The confidence out of ``scale`` as a whole number, and the grid that it is on.

    Without a declared grid it must lie exactly on hundredths; with one it is rounded to the nearest point, halves to
    the even one.
    """
    import ibis

    points = grid or 100
    exact: Expression = text.re_replace("%$", "").try_cast("decimal(28, 9)")
    inside = exact.notnull() & (exact >= 0) & (exact <= scale)
    billionths: Expression = ibis.ifelse(inside, exact * POINTS, ibis.null("decimal(28, 9)")).cast("int64")
    scaled, unit = billionths * points, scale * POINTS
    below: Expression = scaled // unit
    rest = scaled - below * unit
    up = (rest * 2 > unit) | ((rest * 2 == unit) & (below % 2 == 1))
    value = (below + ibis.ifelse(up, 1, 0)).cast("int64")
    wrong: Expression = billionths.isnull()
    if grid is None:
        wrong = wrong | (rest != 0) | text.re_search(r"\.[0-9]{10,}")
    return Read(value, text.notnull() & wrong.fill_null(True)), ibis.ifelse(
        text.notnull(), ibis.literal(points, "int64"), ibis.null("int64")
    )


def first(*pairs: tuple[Expression, str]) -> Expression:
    """The name of the first condition that holds, else null."""
    import ibis

    return ibis.cases(*pairs, else_=ibis.null("string"))
