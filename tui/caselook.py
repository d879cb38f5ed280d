"""A case as it is shown: who said what, the decision bar of the lead's desk, and its status line and footer."""

from __future__ import annotations

from collections.abc import Sequence

from db.cases import JUDGE_REASONS, WHY_BETTER, Case, Opinion
from tui import rating
from tui.casedesk import CaseDesk, Step
from tui.document import Document, Writer
from tui.pieces import Piece, Row, piece
from tui.pieces import width as width_of
from tui.safetext import safe

_REASONS = {**WHY_BETTER, **JUDGE_REASONS}
_WHY = {"people": "Why they differ.", "judge": "Why they differ.", "judges": "Why it is the better one."}
TITLES = {
    "people": "adjudication",
    "judge": "judge against people, unmasked",
    "judges": "judge against judge, unmasked",
}


def opinions(case: Case) -> Document:
    """What each of them said, one under the other."""
    writer = Writer()
    if case.why:
        writer.line(case.why, "quiet").line()
    for opinion in case.opinions:
        _opinion(writer, opinion)
    if case.decided is not None and not _spoken(case.opinions):
        writer.line()
    if case.decided is not None:
        writer.line("decided  ", "strong").add(safe(case.decided.label or "").one_line(), "label")
        if case.decided.rating is not None:
            writer.add(f" {case.decided.rating}", "strong")
        writer.add(f"  ({why(case.decided.reason)})", "quiet")
        if case.decided.note:
            writer.line(safe(case.decided.note), indent=(3, 3))
    return writer.document()


def why(reason: str | None) -> str:
    """The class of a reason in words."""
    return _REASONS.get(reason or "", reason or "")


def said(opinion: Opinion) -> str:
    """Label and rating in words."""
    if opinion.skipped is not None and opinion.label is None:
        return f"skipped: {opinion.skipped}"
    told = [opinion.label or ("" if opinion.rating is not None else "nothing")]
    told += [str(opinion.rating)] if opinion.rating is not None else []
    told += ["(under an earlier codebook)"] if opinion.stale else []
    return " ".join(part for part in told if part)


def _opinion(writer: Writer, opinion: Opinion) -> None:
    writer.line(safe(f"{opinion.who}  ").one_line(), "quiet").add("  ").add(safe(said(opinion)).one_line(), "label")
    for flag in opinion.flags:
        writer.add(f"  ⚑ {flag}", "strong")
    if opinion.words:
        writer.line(safe(opinion.words), indent=(3, 3)).line()


def _spoken(opinions: Sequence[Opinion]) -> bool:
    """Whether the last of them ends in words, which a free line follows."""
    return bool(opinions and opinions[-1].words)


# --- rows -------------------------------------------------------------------------------------------


def status(desk: CaseDesk, who: str) -> Row:
    """Protocol, mode, place in the queue, who decides."""
    queue = desk.queue
    place = f"case {desk.at + 1:,} of {len(queue.units):,}" if desk.case else f"{len(queue.units):,} cases"
    more = f" · {queue.waiting:,} more wait for a coder" if queue.waiting else ""
    left = (
        piece(f" {desk.cases.protocol.name} ", "strong"),
        piece(f" {TITLES[desk.cases.mode]}  ", "quiet"),
        piece(place, "strong"),
        piece(f" · {queue.decided:,} decided{more}", "quiet"),
    )
    return Row(left, (piece(safe(who).one_line(), "quiet"), piece(" ")))


def decision(desk: CaseDesk, width: int) -> list[Row]:
    """A rule, what is asked for now, and what was last said."""
    badge = piece(f" {desk.step.value} ", "mode")
    first, *more = _folded(_asked(desk), width - 14)
    rows = [
        Row((piece("─" * width, "empty"),)),
        Row((piece(" "), badge, piece("  "), *first)),
        *(Row((piece(" " * 11), *line)) for line in more),
        Row((piece(" "), piece(desk.notice or hint(desk), "loud" if desk.loud else "quiet"))),
    ]
    return [row._replace(ground="ground") for row in rows]


def _folded(pieces: list[Piece], room: int) -> list[list[Piece]]:
    """As many lines as the pieces need; a key stays with its word."""
    lines: list[list[Piece]] = [[]]
    for at, each in enumerate(pieces):
        if each.style == "key" and lines[-1] and width_of((*lines[-1], *pieces[at : at + 3])) > room:
            lines.append([])
        lines[-1].append(each)
    return lines


def _asked(desk: CaseDesk) -> list[Piece]:
    if desk.step is Step.DECIDE:
        rated = desk.cases.mode == "people" and desk.cases.protocol.rating_only
        return [piece("the rating, 0-100", "name")] if rated else _chips(desk.keys)
    if desk.step is Step.RATING:
        rule = desk.cases.protocol.rating
        line = "" if rule is None else rating.prompt(rule, desk.draft.digits)
        return [*_given(desk), piece("rating  ", "quiet"), piece(line, "input")]
    if desk.step is Step.REASON:
        words = {key: desk.cases.reasons[name] for key, name in desk.reason_keys.items()}
        return [*_given(desk), *_chips(words)]
    if desk.step is Step.NOTE:
        text, at = desk.line.text, desk.line.cursor
        return [
            piece(safe(text[:at]).one_line(), "input"),
            piece(safe(text[at : at + 1] or " ").one_line() if text[at : at + 1].strip() else " ", "cursor"),
            piece(safe(text[at + 1 :]).one_line(), "input"),
        ]
    return []


def _chips(words: dict[str, str]) -> list[Piece]:
    found: list[Piece] = []
    for key, name in words.items():
        found += [piece(f" {key} ", "key", key), piece(" "), piece(safe(name).one_line(), "name", key), piece("  ")]
    return found


def _given(desk: CaseDesk) -> list[Piece]:
    value = f" {desk.draft.rating}" if desk.draft.rating is not None else ""
    words = f" {desk.draft.label or ''}{value} ".replace("  ", " ")
    return [piece(safe(words).one_line() if words.strip() else "", "given"), piece("  ")]


def hint(desk: CaseDesk) -> str:
    """What the keys do now, where nothing else was said."""
    if desk.step is Step.DECIDE:
        note = " Note: " + desk.draft.note if desk.draft.note else ""
        return "The key decides; then the reason." + note
    return {
        Step.RATING: "Two digits; Esc takes the label back.",
        Step.REASON: f"{_WHY[desk.cases.mode]} n adds a note first, Esc takes the label back.",
        Step.NOTE: "Enter keeps the note, Esc leaves it as it was.",
        Step.SAVING: "",
        Step.DONE: "Nothing is left to decide. ← goes back, u takes the last decision back, q leaves.",
        Step.LEAVE: "Leave? Enter leaves, any other key stays. Every decision is saved.",
    }.get(desk.step, "")


def footer(desk: CaseDesk) -> Row:
    """The keys."""
    keys = (("n", "note"), ("u", "undo"), ("←→", "case"), ("Tab", "panel"), ("?", "codebook"), ("q", "leave"))
    found: list[Piece] = [piece(" ")]
    for key, word in keys:
        found += [piece(f" {key} ", "key", key if len(key) == 1 else ""), piece(f" {word}  ", "quiet")]
    return Row(tuple(found))
