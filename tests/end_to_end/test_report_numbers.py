"""Every number of the report stands in results.json, and Markdown, HTML and terminal show one and the same."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from annotate.__main__ import run
from annotate.reports.document import format_value, resolve

# Digits that are words of ours and no result: confidence level, scales, names of coefficients and ranks, years cited.
WORDS = re.compile(r"95 %|0-100|AC1|F1|ICC\(A,1\)|P\(rank \d+\)|4 times in 5|\b(?:19|20)\d\d\)")
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


class Page(HTMLParser):
    """The text of a page, its text that is neither a number of the results nor a name, and the numbers with refs."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.words: list[str] = []
        self.refs: list[tuple[str, str, str]] = []
        self._open: list[dict[str, str | None]] = []
        self._skip = self._figure = 0
        self._tick = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "title", "desc"):
            self._skip += 1
        self._figure += tag == "svg"
        if tag in ("span", "tspan"):
            self._open.append(dict(attrs))
        if tag == "text":  # the numbers of an axis are its scale
            self._tick = dict(attrs).get("class") == "tick"
        if tag in ("td", "th", "li", "p", "h1", "h2", "h3", "caption"):
            self.text.append(" ")
            self.words.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("style", "title", "desc"):
            self._skip -= 1
        self._figure -= tag == "svg"
        self._tick = self._tick and tag != "text"
        if tag in ("span", "tspan"):
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._skip or self._tick:
            return
        if not self._figure:
            self.text.append(data)
        marks = self._open[-1] if self._open else {}
        if "data-ref" in marks:
            self.refs.append((marks["data-ref"] or "", marks["data-kind"] or "", data))
        elif "data-name" not in marks:
            self.words.append(data)


@pytest.fixture(scope="module")
def report(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports") / "report"
    assert run(["report", str(templates / "coded.db"), "--out", str(folder), "--draws", "1000"]) == 0
    return folder


def test_every_number_has_its_place_in_the_results(report: Path) -> None:
    assert tied(report) > 500


def tied(report: Path) -> int:
    """How many numbers of the page were compared with results.json; fails where one differs or has no place there."""
    results: dict[str, Any] = json.loads((report / "results.json").read_text(encoding="utf-8"))
    page = Page()
    page.feed((report / "report.html").read_text(encoding="utf-8"))
    for path, kind, shown in page.refs:
        assert " ".join(format_value(resolve(results, path), kind).split()) == " ".join(shown.split()), path  # type: ignore[arg-type]
    loose = WORDS.sub("", "".join(page.words))
    assert not re.findall(r"[^.\n]*\d[^.\n]*", loose)
    return len(page.refs)


def test_markdown_shows_the_same_numbers_in_the_same_order(report: Path) -> None:
    same_numbers(report)


def same_numbers(report: Path) -> None:
    """Markdown and HTML show the same numbers in the same order, and the PDF has every one of them."""
    page = Page()
    page.feed((report / "report.html").read_text(encoding="utf-8"))
    markdown = (report / "report.md").read_text(encoding="utf-8")
    markdown = re.sub(r"!\[.*?\]\(figures/.*?\)", "", markdown)
    plain = re.sub(r"\\(.)", r"\1", re.sub(r"(?m)^(?:[|:-]+|#+ |- )", " ", markdown))
    assert NUMBER.findall(plain) == NUMBER.findall(html.unescape("".join(page.text)))
    shown = Counter(number for _, kind, text in page.refs if kind != "text" for number in NUMBER.findall(text))
    missing = shown - Counter(number.rstrip(",") for number in NUMBER.findall(pdf_text(report / "report.pdf")))
    assert not missing


def pdf_text(path: Path) -> str:
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(path).pages)


def test_the_page_asks_for_nothing(report: Path) -> None:
    text = (report / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<(?:script|link|img|iframe|form)|(?:src|href)=[\"'](?!#)|@import|url\(", text)
    assert "default-src 'none'" in text
