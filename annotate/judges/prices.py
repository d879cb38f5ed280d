"""What a call costs: from a small table that the user edits. A model without a price costs an unknown sum, never 0."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from annotate.strict_toml import Table, parse_document
from db.errors import AnnotateError

SHIPPED = Path(__file__).resolve().parent / "prices.toml"
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a million tokens; ``batch`` is the factor that the Batch API takes off (0.5: half price)."""

    prompt: float
    completion: float
    batch: float
    source: str

    def cost(self, prompt_tokens: int, completion_tokens: int, *, batch: bool = False) -> float:
        full = (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6
        return full * (self.batch if batch else 1.0)


def user_table() -> Path:
    """Where a table of the user's own is looked for when ``--prices`` is not given."""
    import click

    return Path(click.get_app_dir("annotate")) / "prices.toml"


def price_of(model: str, table: Path | None) -> Price | None:
    """The price of a model by its exact name, or by its name without a date at the end; None where there is none."""
    own = user_table()
    path = table or (own if own.is_file() else SHIPPED)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise AnnotateError(f"{path}: the price table cannot be read ({error}).", "Check --prices.") from None
    root = parse_document(text, str(path)).root()
    root.allow(("as_of", "source", "model"))
    as_of = root.text("as_of")
    models = root.table("model")
    if models is None:
        return None
    for name in (model, _DATED.sub("", model)):
        entry = models.table(name)
        if entry is not None:
            return _price(entry, f"{path.name} as of {as_of}")
    return None


def _price(entry: Table, source: str) -> Price:
    entry.allow(("prompt", "completion", "batch"))
    return Price(_number(entry, "prompt"), _number(entry, "completion"), _number(entry, "batch", 1.0), source)


def _number(entry: Table, key: str, default: float | None = None) -> float:
    value = entry.data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        entry.fail(f"{key!r} must be US dollars for a million tokens.", f"Write {key} = 2.50.", key)
    return float(value)
