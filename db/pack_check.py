"""Whether what came back in a pack is what was sent, with acts that this program wrote and the codebook allows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from db.acts import check_label, check_rating
from db.chain import EventRow
from db.faults import Refused
from db.pack_read import ReadPack
from db.pack_seal import act_code, content_code, first_key, next_key, same
from db.records import Protocol
from db.texts import text_digest

ASK = "Ask for the file again, untouched."
_FLAG = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Altered(Refused):
    """A pack that is not what this study packed, or whose acts are not what was written into it."""


def check_content(pack: ReadPack, secret: bytes) -> None:
    """Raise Altered unless the content is, to the byte, what this study wrote into the pack."""
    if not same(pack.code, content_code(secret, pack.spelled)):
        raise Altered(f"{pack.source}: its content is not what was packed: it was changed.", ASK)


def check_seals(pack: ReadPack, secret: bytes) -> str:
    """The code of the last act ("" where there is none). Raises Altered where an act or its code was changed.

    Rows that were cut off the end show by the key that is left: it must be the one that comes after the last row.
    """
    key, code = first_key(secret, pack.log), ""
    for expected, (row, stored) in enumerate(pack.rows, 1):
        code = act_code(key, stored)
        if row.seq != expected or not same(pack.codes.get(expected, ""), code):
            raise Altered(f"{pack.source}, row {expected}: it is not sealed with the key of its turn.", ASK)
        key = next_key(key)
    if len(pack.codes) != len(pack.rows) or not same(pack.ratchet, key):
        raise Altered(f"{pack.source}: acts are missing at its end, or its key was changed.", ASK)
    return code


def check_acts(pack: ReadPack, protocols: Mapping[int, Protocol]) -> None:
    """Raise Refused for an act that is none of a coder's, is on another unit, or that its codebook does not allow."""
    items = set(pack.items)
    kinds: dict[int, str] = {}
    fence = 0
    for row, _ in pack.rows:
        where = f"{pack.source}, row {row.seq}"
        if row.assignment is not None and row.assignment not in items:
            raise Refused(f"{where}: {row.assignment} was not in the pack; nothing was merged.", ASK)
        protocol = protocols.get(row.protocol)
        if protocol is None:
            raise Refused(f"{where}: written under a codebook (version {row.protocol}) unknown here.", ASK)
        wrong = _wrong(row, protocol, kinds, fence) or _wrong_words(pack, row)
        if wrong:
            raise Refused(f"{where}: {wrong}; nothing was merged.", ASK)
        kinds[row.seq] = row.kind
        fence = row.fence


def _wrong(row: EventRow, protocol: Protocol, kinds: Mapping[int, str], fence: int) -> str:
    check = _BODIES.get(row.kind)
    if check is None:
        return f"{row.kind!r} is nothing that a coder does"
    if row.unit != row.assignment or (row.assignment is None and row.kind in _ON_ITEMS):
        return "it names no item of the pack"
    if row.blindness not in ("sealed", "open", "unknown") or row.origin != "terminal":
        return "it was not written at the coding desk"
    if type(row.fence) is not int or row.fence < max(1, fence):
        return "it was written by an earlier session than the act before it"
    if row.active_ms is not None and (type(row.active_ms) is not int or row.active_ms < 0):
        return "its time is no number of milliseconds"
    note = row.body.get("note")
    if note is not None and not (isinstance(note, str) and _DIGEST.fullmatch(note)):
        return "its note is no digest"
    try:
        return check({key: value for key, value in row.body.items() if key != "note"}, protocol, kinds)
    except Refused as error:
        return error.message.rstrip(".")


def _wrong_words(pack: ReadPack, row: EventRow) -> str:
    """Words are in the pack whole: nothing is erased there, as it may be in a copy of the study."""
    for name in ("note", "words"):
        digest = row.body.get(name)
        if digest is not None:
            salt, text = pack.texts.get(digest, ("", None))
            if text is None or text_digest(salt, text) != digest:
                return "the words of its note are missing or were changed"
    return ""


def _label(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    label = check_label(protocol, body.pop("label", None))
    if protocol.asks_rating(label):
        check_rating(protocol, body.pop("rating", None))
    if protocol.pairwise and body.pop("sides", None) != "shown":
        return "it does not say which side is meant"
    return _rest(body)


def _rating(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    check_rating(protocol, body.pop("rating", None))
    return _rest(body)


def _flag(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    flag, on = body.pop("flag", None), body.pop("on", None)
    good = isinstance(flag, str) and _FLAG.fullmatch(flag) and isinstance(on, bool)
    return _rest(body) if good else "it is no flag"


def _skip(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    reason, words = body.pop("reason", None), body.pop("words", None)
    if reason is not None and reason not in protocol.skip_reasons:
        return f"{reason!r} is no reason of this codebook"
    if words is not None and not (isinstance(words, str) and _DIGEST.fullmatch(words)):
        return "its words are no digest"
    return _rest(body) if (reason is None) != (words is None) else "a skip has one reason"


def _move(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    target, kind = body.pop("target", None), body.pop("kind", None)
    good = type(target) is int and kinds.get(target) == kind
    return _rest(body) if good else "it takes back what is not there"


def _highlight(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    return _rest(body) if isinstance(body.pop("on", None), bool) else "it is no switch"


def _confirm(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    return _rest(body) if body.pop("digest", None) == protocol.digest else "it confirms another codebook"


def _takeover(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    return _rest(body) if type(body.pop("from", None)) is int else "it names no session"


def _nothing(body: dict[str, Any], protocol: Protocol, kinds: Mapping[int, str]) -> str:
    return _rest(body)


def _rest(body: dict[str, Any]) -> str:
    return f"it says more than it may ({', '.join(sorted(body))})" if body else ""


_ON_ITEMS = frozenset({"label", "rating", "note", "flag", "skip", "undo", "redo"})
_BODIES: Mapping[str, Callable[[dict[str, Any], Protocol, Mapping[int, str]], str]] = {
    "label": _label,
    "rating": _rating,
    "note": _nothing,
    "flag": _flag,
    "skip": _skip,
    "highlight": _highlight,
    "undo": _move,
    "redo": _move,
    "confirm": _confirm,
    "unmask": _nothing,
    "takeover": _takeover,
}
