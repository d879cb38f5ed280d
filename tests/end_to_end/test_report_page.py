"""The page of a report in a real Chromium: what a screen reader is told, the keyboard, phone, print, dark and light."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from annotate.__main__ import run
from tests.end_to_end.programs import program

pytestmark = pytest.mark.slow
Node = dict[str, Any]
COLOURS = """each => each.map(e => {
  let behind = e
  while (behind && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement
  const style = getComputedStyle(e)
  const paper = behind ? getComputedStyle(behind).backgroundColor : 'rgb(255, 255, 255)'
  return [e.tagName === 'text' ? style.fill : style.color, paper]
})"""


@pytest.fixture(scope="module")
def report(templates: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "report"
    assert run(["report", str(templates / "coded.db"), "--out", str(folder), "--draws", "1000", "--form", "html"]) == 0
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = program("chromium", "chromium-browser", "google-chrome")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    found = browser.new_page(viewport={"width": 1280, "height": 900})
    requests: list[str] = []
    found.on("request", lambda request: requests.append(request.url))
    found.goto(report.as_uri())
    yield found
    assert requests == [report.as_uri()]  # nothing but the file itself
    found.close()


@pytest.fixture
def tree(page: Any) -> list[Node]:
    """What Chromium tells a screen reader, in reading order; ignored nodes left out."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}

    def walk(node: Node, above: tuple[str, ...]) -> Iterator[Node]:
        role = str(node.get("role", {}).get("value", ""))
        if not node["ignored"]:
            properties = {each["name"]: each["value"].get("value") for each in node.get("properties", ())}
            name = str(node.get("name", {}).get("value", ""))
            yield {"role": role, "name": name, "above": above, "id": node["nodeId"], **properties}
        for child in node.get("childIds", ()):
            if child in by_id:
                yield from walk(by_id[child], (*above, role))

    return list(walk(nodes[0], ()))


def named(tree: list[Node], role: str) -> list[Node]:
    return [node for node in tree if node["role"] == role]


def test_headings_go_down_one_step_at_a_time_under_one_title(tree: list[Node]) -> None:
    levels = [node["level"] for node in named(tree, "heading")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(following - level <= 1 for level, following in pairwise(levels))
    assert all(node["name"] for node in named(tree, "heading"))
    assert len(levels) > 15


def test_landmarks_and_their_names(tree: list[Node]) -> None:
    assert len(named(tree, "main")) == 1
    assert [node["name"] for node in named(tree, "navigation")] == ["Sections"]
    assert all(node["name"] for node in named(tree, "region"))
    assert named(tree, "RootWebArea")[0]["name"] == "EHQ sample"


def test_every_table_heads_its_columns_and_its_rows(page: Any, tree: list[Node]) -> None:
    tables = page.locator("table").count()
    assert tables == len(named(tree, "table")) > 20
    assert (
        page.locator('thead th[scope="col"]').count()
        == len(named(tree, "columnheader"))
        == page.locator("thead th").count()
    )
    assert (
        page.locator('tbody th[scope="row"]').count()
        == len(named(tree, "rowheader"))
        == page.locator("tbody tr").count()
    )
    assert page.locator("table:not(:has(caption))").evaluate_all("each => each.every(t => t.closest('[aria-label]'))")


def test_every_picture_says_what_is_to_be_seen(page: Any, tree: list[Node]) -> None:
    pictures = named(tree, "image")
    assert len(pictures) == page.locator("svg").count() >= 1
    assert all(len(node["name"]) > 60 for node in pictures)
    figures = named(tree, "figure")
    assert len(figures) == len(pictures)
    assert all(node["name"] for node in figures)


def test_language_lists_and_folds_are_told(page: Any, tree: list[Node]) -> None:
    assert page.evaluate("document.documentElement.lang") == "en"
    assert len(named(tree, "list")) >= 3
    folds = named(tree, "DisclosureTriangle")
    assert len(folds) >= 2
    assert all(fold["expanded"] is False and fold["name"] for fold in folds)


def test_the_keyboard_reaches_everything_in_reading_order(page: Any) -> None:
    """Tab: the skip link first, the sections, then figures, tables and folds from top to bottom, and back."""
    page.keyboard.press("Tab")
    first = page.evaluate("[document.activeElement.className, document.activeElement.getBoundingClientRect().left]")
    assert first[0] == "skip"
    assert first[1] >= 0  # seen, once it has the focus
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    stops: list[float] = []
    kinds: set[str] = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        kind, top = page.evaluate(
            "[document.activeElement.tagName, document.activeElement.getBoundingClientRect().top + scrollY]"
        )
        if kind == "BODY":
            break
        kinds.add(kind)
        stops.append(top)
    assert {"DIV", "FIGURE", "SUMMARY"} <= kinds
    assert stops == sorted(stops)
    assert len(stops) >= page.locator("main [tabindex='0'], main summary").count()
    page.evaluate("document.querySelector('.table').focus()")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_a_fold_opens_with_the_keyboard(page: Any) -> None:
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.evaluate("each => each.open")


def test_a_wide_table_scrolls_with_the_keyboard_at_phone_width(browser: Any, report: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    wide = page.locator(".table").evaluate_all("each => each.findIndex(t => t.scrollWidth > t.clientWidth + 20)")
    assert wide >= 0
    page.locator(".table").nth(wide).focus()
    page.keyboard.press("ArrowRight")
    for _ in range(30):  # scrolling is smooth
        page.wait_for_timeout(100)
        if page.locator(".table").nth(wide).evaluate("each => each.scrollLeft") > 0:
            break
    else:
        pytest.fail("the arrow key does not scroll the table")
    sizes = page.locator("p, li, td, th").evaluate_all(
        "each => each.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 12
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser: Any, report: Path, scheme: str) -> None:
    """WCAG 2: contrast of 4.5 and more for every text; of 3 for the lines of figures."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(report.as_uri())
    pairs = page.locator("p, li, td, th, h1, h2, h3, a, summary, caption, figcaption, .note, text").evaluate_all(
        COLOURS
    )
    assert len(pairs) > 500
    for ink, paper in {tuple(pair) for pair in pairs}:
        assert contrast(ink, paper) >= 4.5, (scheme, ink, paper)
    marks = page.locator("svg [stroke^='#']").evaluate_all("each => each.map(e => e.getAttribute('stroke'))")
    for colour in set(marks):
        assert contrast("rgb({}, {}, {})".format(*bytes.fromhex(colour[1:])), "rgb(255, 255, 255)") >= 3
    page.close()


def contrast(one: str, other: str) -> float:
    """Of two colours as WCAG 2 defines it."""
    lights = sorted((luminance(one), luminance(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(colour: str) -> float:
    parts = [int(each) / 255 for each in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_print_holds_everything_folds_too(page: Any) -> None:
    from pypdf import PdfReader

    page.emulate_media(media="print")
    pdf = page.pdf(format="A4")
    text = " ".join("\n".join(each.extract_text() for each in PdfReader(io.BytesIO(pdf)).pages).split())
    folded = page.locator("details p").first.text_content()
    assert " ".join(folded.split())[:40] in text
    assert "Skip to the report" not in text
    assert "Reporting checklist" in text
    assert 5 < len(PdfReader(io.BytesIO(pdf)).pages) < 40
