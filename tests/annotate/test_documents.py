"""One document, three drawings: the same value everywhere, and study text that can open no markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from annotate.reports.document import (
    Bullets,
    Document,
    Heading,
    Name,
    Paragraph,
    Ref,
    Table,
    format_value,
    pointer,
    resolve,
)
from annotate.reports.html import to_html
from annotate.reports.markdown import to_markdown
from annotate.reports.terminal import show

RESULTS = {"kappa": {"value": 0.73469, "n": 1483}, "by": {"a/b": [0.5, None]}, "why": "no | pair <b>"}
HOSTILE = "m<script>|[x](javascript:1) \x1b[31m`*"
DOCUMENT = Document(
    (
        Heading(1, ("Report on ", Name(HOSTILE))),
        Paragraph(("Kappa ", Ref("/kappa/value"), " on ", Ref("/kappa/n", "count"), " units.")),
        Bullets((("Undefined: ", Ref("/by/a~1b/1"), ", ", Ref("/why", "text")),)),
        Table(
            ("Title",),
            (("model",), ("share",)),
            (((Name(HOSTILE),), (Ref(pointer("by", "a/b", 0), "percent"),)),),
            right=(1,),
        ),
    ),
    RESULTS,
)


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (None, "share", "undefined"),
        (0.73469, "share", "0.735"),
        (-0.0412, "change", "-0.041"),
        (0.0412, "change", "+0.041"),
        (1483, "count", "1,483"),
        (2.5, "count", "2.5"),
        (0.8684, "percent", "86.8 %"),
        (3.0, "rank", "3"),
        (1.2345, "decimal", "1.23"),
        ("a reason", "text", "a reason"),
    ],
)
def test_each_kind_of_number_is_printed_in_one_way(value: object, kind: str, shown: str) -> None:
    assert format_value(value, kind) == shown  # type: ignore[arg-type]


def test_a_pointer_that_leads_nowhere_is_named() -> None:
    with pytest.raises(KeyError, match="/kappa/missing"):
        resolve(RESULTS, "/kappa/missing")


def test_names_with_slashes_survive_the_way_through_a_pointer() -> None:
    assert resolve(RESULTS, pointer("by", "a/b", 0)) == 0.5


class _Refs(HTMLParser):
    """Collects each data-ref with the text in it, and every tag that occurs."""

    def __init__(self) -> None:
        super().__init__()
        self.refs: list[tuple[str, str, str]] = []
        self.tags: set[str] = set()
        self._open: list[tuple[str, str] | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        known = dict(attrs)
        if tag == "span":
            self._open.append((known["data-ref"] or "", known["data-kind"] or "") if "data-ref" in known else None)

    def handle_endtag(self, tag: str) -> None:
        if tag == "span":
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1]:
            self.refs.append((*self._open[-1], data))


def test_every_number_in_the_page_says_where_it_comes_from() -> None:
    parser = _Refs()
    parser.feed(to_html(DOCUMENT, title=HOSTILE))
    assert [(path, text) for path, _, text in parser.refs] == [
        ("/kappa/value", "0.735"),
        ("/kappa/n", "1,483"),
        ("/by/a~1b/1", "undefined"),
        ("/why", "no | pair <b>"),
        ("/by/a~1b/0", "50.0 %"),
    ]
    assert "script" not in parser.tags
    assert "b" not in parser.tags


def test_study_text_opens_no_markdown() -> None:
    text = to_markdown(DOCUMENT)
    assert "\x1b" not in text
    row = next(line for line in text.splitlines() if "50.0 %" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
    assert r"\[x\](javascript:1)" in row
    assert "| ---: |" not in text
    assert "|---|---:|" in text


def test_the_terminal_shows_the_same_numbers_and_no_escape(capsys: pytest.CaptureFixture[str]) -> None:
    show(DOCUMENT)
    text = capsys.readouterr().out
    assert all(number in text for number in ("0.735", "1,483", "50.0 %", "undefined"))
    assert "\x1b" not in text
