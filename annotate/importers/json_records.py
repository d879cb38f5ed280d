"""JSON Lines, and JSON arrays read one element at a time.

NaN and Infinity, which are not JSON but which Python writes, are read as null: an undefined number is missing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from annotate.importers.records import ReadOptions, Record
from annotate.importers.sources import SourceError, open_bytes, open_text
from db.records import Reject

_CHUNK = 1 << 18
_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
# What decode() calls in between; alone it takes a third of the time on short lines.
_SCAN: Callable[[str, int], tuple[object, int]] = _DECODER.scan_once  # type: ignore[attr-defined]


def loads(text: str) -> object:
    """A JSON value; raises ValueError, also where it is nested too deeply to be read."""
    try:
        try:
            value, end = _SCAN(text, 0)
        except StopIteration:  # it begins with a blank, or with something that is no value
            return _DECODER.decode(text)
        return value if not text[end:].strip(_BLANK) else _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_json(line: bytes) -> bool:
    """True where ``line`` is a whole JSON value."""
    try:
        loads(line.decode("utf-8-sig"))
    except ValueError:
        return False
    return True


def why(error: ValueError) -> str:
    """What the parser says, without the text around it (which may be a response)."""
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON at column {error.colno}: {error.msg}"
    return f"not readable: {str(error) if not isinstance(error, UnicodeDecodeError) else 'not UTF-8'}"


def read_lines(path: Path, options: ReadOptions) -> Iterator[Record | Reject]:
    """Every line that is not blank: an object, or a Reject."""
    for row, found in numbered_lines(path, options):
        yield found if isinstance(found, Reject) else Record(row, found)


def numbered_lines(path: Path, options: ReadOptions) -> Iterator[tuple[int, dict[str, object] | Reject]]:
    """(line, object) of every line that is not blank, or (line, Reject)."""
    encoding = options.encoding or "utf-8"
    with open_bytes(path) as file:
        for row, line in enumerate(file, start=1):
            if row == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.isspace():
                continue
            try:
                value = loads(line.decode(encoding))
            except ValueError as error:
                yield row, Reject(path.name, row, why(error))
                continue
            yield row, value if isinstance(value, dict) else _no_object(path, row, value)


def read_array(path: Path, options: ReadOptions) -> Iterator[Record | Reject]:
    """Every element of the array that the file is; raises SourceError where the array breaks off."""
    for row, value in stream_array(path, options.encoding):
        yield _record(path, row, value)


def _record(path: Path, row: int, value: object) -> Record | Reject:
    if isinstance(value, dict):
        return Record(row, value)
    return _no_object(path, row, value)


def _no_object(path: Path, row: int, value: object) -> Reject:
    return Reject(path.name, row, f"a JSON object was expected, not {type(value).__name__}")


def stream_array(path: Path, encoding: str = "") -> Iterator[tuple[int, object]]:
    """(line, value) of every element of a JSON array, holding one element in memory at a time."""
    with open_text(path, encoding) as text:
        yield from _Stream(path, text).elements()


class _Stream:
    """A window on the text of an array: what is read but not yet decoded, and the line that it begins on."""

    def __init__(self, path: Path, text: TextIO) -> None:
        self._path, self._text = path, text
        self._window, self._at, self._line, self._count = "", 0, 1, 0
        self._ended = False

    def elements(self) -> Iterator[tuple[int, object]]:
        if self._next_mark() != "[":
            raise self._broken("a JSON array was expected", "It should begin with [.")
        self._at += 1
        if self._next_mark() == "]":
            return
        while True:
            self._next_mark()
            row = self._line
            yield row, self._value()
            self._count += 1
            mark = self._next_mark()
            if mark == "]":
                return
            if mark != ",":
                raise self._broken("a comma or ] was expected", "The file may be cut off: copy or download it again.")
            self._at += 1

    def _value(self) -> object:
        while True:
            try:
                value, end = _DECODER.raw_decode(self._window, self._at)
            except RecursionError:
                raise self._broken("a value is nested too deeply", "It cannot be read.") from None
            except ValueError as error:
                if not self._fill():
                    raise self._broken(why(error), "The file may be cut off: copy or download it again.") from None
                continue
            if end < len(self._window) or not self._fill():  # a number at the very end may go on in the next chunk
                self._advance(end)
                return value

    def _next_mark(self) -> str:
        """The next character that is not blank, '' at the end of the file."""
        while True:
            end = self._at
            while end < len(self._window) and self._window[end] in _BLANK:
                end += 1
            self._advance(end)
            if self._at < len(self._window):
                return self._window[self._at]
            if not self._fill():
                return ""

    def _advance(self, end: int) -> None:
        self._line += self._window.count("\n", self._at, end)
        self._at = end

    def _fill(self) -> bool:
        """Read on: as much again as is waiting, so that one very long element costs no more than twice its length."""
        waiting = self._window[self._at :]
        more = self._text.read(max(_CHUNK, len(waiting)))
        self._window, self._at = waiting + more, 0
        return bool(more)

    def _broken(self, what: str, hint: str) -> SourceError:
        return SourceError(f"{self._path}, line {self._line} (after {self._count} records): {what}.", hint)
