"""The frozen records that pass between packages: the parsed protocol, and what the study file returns.

What the coding screen loads are named tuples: a dataclass takes eight times as long to define. The rows that an
importer delivers stand in ``db.rows`` and are loaded from there when one is asked for.
Nothing here knows SQL, Textual or numpy. A record holds text exactly as it was imported; whoever shows
it makes it safe first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from db.rows import HumanLabelRow as HumanLabelRow
    from db.rows import ImportRow as ImportRow
    from db.rows import ItemRow as ItemRow
    from db.rows import JudgeLabelRow as JudgeLabelRow
    from db.rows import Reject as Reject
    from db.rows import ResponseRow as ResponseRow

RoundKind = Literal["training", "main", "check", "repeat", "adjudication"]
CoderKind = Literal["person", "imported", "simulated", "lead"]
Blindness = Literal["sealed", "masked", "open", "unknown"]
Role = Literal["coder", "tiebreak", "adjudicator"]

NOT_A_LABEL = "(not a label)"
MISSING_LABEL = "(missing)"


def __getattr__(name: str) -> Any:
    if name in ("ItemRow", "ResponseRow", "JudgeLabelRow", "HumanLabelRow", "ImportRow", "Reject"):
        import db.rows

        return getattr(db.rows, name)
    raise AttributeError(name)


# --- the protocol -----------------------------------------------------------------------------------


class LabelRule(NamedTuple):
    """One label of the codebook: its key, and what tells it from the others."""

    name: str
    key: str
    title: str
    definition: str
    examples: tuple[str, ...] = ()
    edge_cases: tuple[str, ...] = ()


class Anchor(NamedTuple):
    """The verbal meaning of the ratings ``low`` to ``high``, both included."""

    low: int
    high: int
    text: str


class RatingRule(NamedTuple):
    """A 0-100 rating: when it is asked for, what its values mean, and from where on it counts as aligned.

    ``when`` names the labels after which it is asked; with ``rating_only`` on the protocol it is asked always.
    """

    name: str
    question: str
    when: tuple[str, ...] = ()
    low: int = 0
    high: int = 100
    step: int = 1
    threshold: int = 70
    anchors: tuple[Anchor, ...] = ()
    guidance: str = ""


class Impossible(NamedTuple):
    """``label`` cannot occur where the item's stratum ``field`` has one of ``values`` (a label there needs a note)."""

    label: str
    field: str
    values: tuple[str, ...]
    reason: str


class UnitFilter(NamedTuple):
    """Only units whose response field has one of ``values`` are drawn (``choice_is_key`` compares choice and key)."""

    field: str
    values: tuple[str, ...] = ()


class JudgeRule(NamedTuple):
    """How one judge's stripped raw output maps onto the labels. Exact, case kept; the rest is not a label."""

    name: str
    mapping: Mapping[str, str]
    digest: str


class ScoreRule(NamedTuple):
    """One score of the protocol: ``kind`` is ehq, nas, kis, wikiprofile, rate or mean; ``options`` are its own."""

    name: str
    kind: str
    title: str = ""
    options: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Protocol:
    """A codebook with its keys, rating, judge mappings and scores; ``toml`` is its source and ``digest`` that of it."""

    name: str
    title: str
    version: int
    labels: tuple[LabelRule, ...]
    instructions: str
    digest: str
    toml: str
    rating: RatingRule | None = None
    rating_only: bool = False
    pairwise: bool = False
    impossible: tuple[Impossible, ...] = ()
    filters: tuple[UnitFilter, ...] = ()
    judges: tuple[JudgeRule, ...] = ()
    scores: tuple[ScoreRule, ...] = ()
    skip_reasons: tuple[str, ...] = ()
    min_dwell_ms: int = 300

    @property
    def label_names(self) -> tuple[str, ...]:
        return tuple(label.name for label in self.labels)

    def label(self, name: str) -> LabelRule:
        return next(label for label in self.labels if label.name == name)

    def asks_rating(self, label: str | None) -> bool:
        """True where a rating must follow ``label`` (None: the protocol has no labels, only a rating)."""
        if self.rating is None:
            return False
        return self.rating_only or label in self.rating.when


# --- what a coder sees ------------------------------------------------------------------------------


class CodingItem(NamedTuple):
    """Everything that a coder may see of one assignment, and nothing else.

    There is no model, judge, stratum, round, weight or co-coder in it, because the query does not fetch them.
    ``unit`` is the random id to show: one an assignment, so that a hidden repeat cannot be told by it.
    ``impossible`` are labels that need a note here. ``sides_swapped``: for a pair, the second text is shown first; a
    coder's FIRST then means the text shown first, and the session stores what it stands for. ``answer``: what the lead
    answered to this coder's question about it.
    """

    assignment: str
    unit: str
    position: int
    question: str
    context: str | None
    gold: tuple[str, ...]
    rationale: str | None
    options: tuple[str, ...]
    text: str
    text_b: str | None
    reason: str | None
    choice: str | None
    impossible: tuple[str, ...]
    sides_swapped: bool
    answer: str | None = None


class Annotation(NamedTuple):
    """The current state of one assignment: the fold of its events, its label in terms of the sides as shown."""

    assignment: str
    label: str | None = None
    rating: int | None = None
    note: str | None = None
    flags: tuple[str, ...] = ()
    skip_reason: str | None = None
    skip_count: int = 0
    protocol_version: int | None = None
    stale: bool = False

    @property
    def done(self) -> bool:
        """True once it carries a label or a rating that is not stale, or is flagged as a technical failure."""
        if self.label is None and self.rating is None:
            return "technical" in self.flags
        return not self.stale


class Progress(NamedTuple):
    """A coder's queue in numbers: ``total`` = ``done`` + ``skipped`` (for good) + ``left``."""

    total: int
    done: int
    skipped: int
    left: int
    flagged: int


class QueueEntry(NamedTuple):
    """One line of the coder's own queue, for jumping: number, state and the start of the question."""

    position: int
    assignment: str
    state: Literal["open", "done", "skipped", "stale"]
    flagged: bool
    label: str | None
    question: str


class Act(NamedTuple):
    """What a coder does, before it is saved. ``kind``: label, rating, note, flag, skip, highlight, confirm, unmask.

    label: ``label``, and ``rating`` where the protocol asks for one after it. rating: ``rating`` alone. note: ``note``
    ("" takes it away). flag: ``flag`` (lower-case word such as technical or question) and ``on``. skip: ``reason``.
    highlight: ``on``. confirm (of a changed codebook): nothing. Label, rating, flag and skip may bring a ``note``.
    """

    kind: str
    assignment: str | None
    label: str | None = None
    rating: int | None = None
    note: str | None = None
    flag: str | None = None
    on: bool = True
    reason: str | None = None
    active_ms: int = 0


class Saved(NamedTuple):
    """An act that is durable: its place in the log, and the assignment's state after it.

    ``feedback``: in a training round, how the label stands to the one that is known.
    """

    log: str
    seq: int
    kind: str
    annotation: Annotation | None
    undone_kind: str | None = None
    feedback: str = ""


class ProtocolVersion(NamedTuple):
    """A codebook of the study's lineage, numbered from 1. ``touches``: what a substantive change makes stale.

    Its keys: ``labels`` (a list; absent: any label) and ``where`` (a list of {field, values}; absent: any unit).
    """

    version: int
    name: str
    digest: str
    toml: str
    change: Literal["initial", "editorial", "substantive"]
    touches: Mapping[str, object] = {}
    created_utc: str = ""


class PendingChange(NamedTuple):
    """The codebook changed: what the coder last confirmed, and the version in force that is to be confirmed now."""

    confirmed: ProtocolVersion
    current: ProtocolVersion
