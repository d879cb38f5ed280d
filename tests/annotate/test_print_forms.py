"""The PDF and the figures for print: hostile text as plain text, tagged, fonts inside, dateless, the same twice."""

from __future__ import annotations

import io
import re
import unicodedata
from dataclasses import replace

import pytest

from annotate.console import visible
from annotate.reports.document import (
    Bullets,
    Document,
    Figure,
    Fold,
    Heading,
    Mark,
    Name,
    Paragraph,
    Ref,
    Row,
    Table,
    Verbatim,
)
from annotate.reports.figures import to_svg
from annotate.reports.wrapping import width, wrapped
from tests.tui.hostile import CORPUS

LONG = "an-organisation/some__model-name-of-seventy-characters-and-more-2026-11-30-instruct"
# What would do harm if typst read it as its own language, or end a string or a document.
TYPST = (
    '#read("/etc/passwd")', "#import \"@preview/x:0.1.0\": *", "#panic()", "#{1+1}", "$x^2$", "= Heading", "*bold* _x_",
    "`raw` ```raw```", "<label> @ref", "// comment /* x */", '"quote" \\', "\\u{41}", "https://evil.example",
    "- item", "~",
)  # fmt: skip
RESULTS = {
    "title": "Report",
    "hostile": {name: text[:400] for name, text in CORPUS.items()},
    "typst": list(TYPST),
    "rows": [{"value": 0.25, "low": 0.2, "high": 0.31}, {"value": None, "low": None, "high": None}],
}
FIGURE = Figure(
    "scores",
    ("EHQ of ", Name("$x_1$ & #panic()")),
    "What is to be seen",
    ("judge", "people"),
    (
        Row((Name(LONG),), (Mark(0, "/rows/0/value"), Mark(1, "/rows/0/value", "/rows/0/low", "/rows/0/high"))),
        Row((Name("$\\frac{"),), (Mark(1, "/rows/1/value", "/rows/1/low", "/rows/1/high"),), ("rank 1",)),
    ),
    "EHQ",
)


def document() -> Document:
    texts = [Ref(f"/hostile/{name}", "text") for name in RESULTS["hostile"]]  # type: ignore[attr-defined]
    typst = [Ref(f"/typst/{at}", "text") for at in range(len(TYPST))]
    cells = tuple(((Name(text),), (ref,)) for text, ref in zip(TYPST, typst, strict=True))
    blocks = (
        Heading(1, (Ref("/title", "text"),)),
        Paragraph(("Value ", Ref("/rows/0/value"), ".")),
        Heading(2, ("Texts of ", Name("#panic()"))),
        FIGURE,
        Bullets(tuple((ref,) for ref in (*texts, *typst))),
        Table((Name("= title"),), ((Name("*head*"),), ("text",)), cells, note=(Name("#note"),)),
        Fold((Name("@fold"),), (Paragraph((Name(LONG),)),)),
        Verbatim((Name("#raw"),), Ref("/typst/7", "text")),
    )
    return Document(blocks, RESULTS)


def pages(pdf: bytes) -> str:
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)


def bare(text: str) -> str:
    """Without spaces and hyphens of a broken line, ligatures taken apart."""
    return re.sub(r"[\s\u00ad\u00a0]", "", unicodedata.normalize("NFKD", text))


def test_typst_markup_in_a_study_is_plain_text() -> None:
    """Every string stands in the extracted text as it was written; none was run, linked or set as a heading."""
    pytest.importorskip("typst")
    from annotate.reports.pdf import to_pdf

    pdf = to_pdf(document(), title='#panic() "x"')
    text = bare(pages(pdf))
    for each in TYPST:
        assert text.count(bare(each)) >= 3, each  # as a name, in a table and in a list
    assert bare(LONG) in text
    assert b"/URI" not in pdf
    assert "root:x:" not in text


def test_hostile_text_is_made_visible_before_it_is_set() -> None:
    pytest.importorskip("typst")
    from annotate.reports.pdf import to_pdf

    text = bare(pages(to_pdf(document(), title="x")))
    assert bare(visible(CORPUS["textual action"])) in text
    assert bare(visible(CORPUS["markdown"])) in text
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_a_name_without_a_joint_stays_on_its_page_and_in_its_column() -> None:
    """A line of this type takes about 100 letters, and a column of a table of two half of that."""
    pytest.importorskip("typst")
    from annotate.reports.pdf import to_pdf

    name = "x" * 300
    table = Table((), (("model",), ("value",)), (((Name(name),), ("0.250 " * 8,)),))
    for block, most in ((Bullets(((Name(name), ": it rises."),)), 110), (table, 90)):
        text = pages(to_pdf(Document((Heading(1, ("T",)), block), RESULTS), title="T"))
        runs = [len(run) for run in re.findall("x+", text)]
        assert sum(runs) == 300
        assert max(runs) <= most


def test_the_pdf_is_tagged_titled_dateless_and_the_same_twice() -> None:
    pytest.importorskip("typst")
    from pypdf import PdfReader

    from annotate.reports.pdf import to_pdf

    plain = Document((Heading(1, ("T",)), Heading(2, ("Section",)), FIGURE, document().blocks[5]), RESULTS)
    pdf = to_pdf(plain, title="Über κ → 中文"[:8])
    assert pdf == to_pdf(plain, title="Über κ → 中文"[:8])
    reader = PdfReader(io.BytesIO(pdf))
    catalog = reader.trailer["/Root"]
    assert catalog["/MarkInfo"]["/Marked"]
    assert catalog["/Lang"] == "en"
    assert catalog["/ViewerPreferences"]["/DisplayDocTitle"]
    assert reader.metadata is not None
    assert reader.metadata.title == "Über κ →"
    assert reader.metadata.creation_date is None
    assert reader.metadata.author is None
    assert b"pdfuaid:part" in pdf or b"pdfuaid" in catalog["/Metadata"].get_data()
    tags = set(_tags(catalog["/StructTreeRoot"]))
    assert {"/H1", "/Table", "/TH", "/TD", "/Figure", "/TOC", "/Caption"} <= tags
    assert [item["/Title"] for item in reader.outline] == ["Section"]


@pytest.mark.parametrize(
    "text", ["\U00013000", "\U0010fffd", "\ue000", "😀 👩‍👩‍👧", "ދިވެހި ไทย 中文", "x" * 5000, "", " ", "\ufdfa"]
)
def test_no_text_keeps_a_report_from_being_written(text: str) -> None:
    """Letters that no font here has, an empty name, headings that skip a level: a PDF all the same, tagged."""
    pytest.importorskip("typst")
    from annotate.reports.pdf import to_pdf

    name = (Name(text),)
    blocks = (Heading(1, name), Heading(4, name), Paragraph(name), Table(name, (name,), ((name,),), note=name))
    pdf = to_pdf(Document(blocks, {}), title=text)
    assert pdf.startswith(b"%PDF")
    assert b"/MarkInfo" in pdf
    assert pdf == to_pdf(Document(blocks, {}), title=text)


def _tags(node: object) -> list[str]:
    from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject

    if isinstance(node, IndirectObject):
        node = node.get_object()
    if isinstance(node, ArrayObject):
        return [tag for each in node for tag in _tags(each)]
    if not isinstance(node, DictionaryObject):
        return []
    return [*([str(node["/S"])] if "/S" in node else []), *(_tags(node["/K"]) if "/K" in node else [])]


def test_figures_for_print_have_their_fonts_inside_no_date_and_the_same_bytes() -> None:
    pytest.importorskip("matplotlib")
    from pypdf import PdfReader

    from annotate.reports.print_figures import print_figure

    found = print_figure(document(), FIGURE)
    assert found == print_figure(document(), FIGURE)
    assert set(found) == {"pdf", "svg", "png"}
    reader = PdfReader(io.BytesIO(found["pdf"]))
    fonts = reader.pages[0]["/Resources"]["/Font"].values()
    for font in fonts:
        inner = font.get_object()["/DescendantFonts"][0].get_object()["/FontDescriptor"].get_object()
        assert "/FontFile2" in inner
    assert reader.metadata is not None
    assert reader.metadata.creation_date is None
    assert bare(LONG) in bare(reader.pages[0].extract_text())
    assert "<text" not in found["svg"].decode()  # letters as shapes: they look the same everywhere
    for content in found.values():
        assert not re.search(rb"20\d\d-\d\d-\d\dT|/home/|/tmp/", content)


def test_a_figure_in_grey_still_tells_the_series_apart() -> None:
    """Marks differ in shape, in being filled and in their line: no two series of a figure share one look."""
    from annotate.reports.figures import DASHES, SHAPES
    from annotate.reports.print_figures import DASHES as PRINTED
    from annotate.reports.print_figures import MARKERS

    assert len(set(SHAPES)) == len(set(MARKERS)) == 3
    assert DASHES[1] != DASHES[2]
    assert PRINTED[1] != PRINTED[2]


def test_nothing_of_a_long_name_is_cut_off() -> None:
    svg = to_svg(document(), FIGURE, alone=True)
    texts = re.findall(r'<text x="[^"]*" y="[^"]*" text-anchor="end">(?:<tspan data-name="">)(.*?)</tspan>', svg)
    assert "".join(texts).startswith(LONG)
    assert max(map(len, texts)) <= 34
    x = float(re.search(r'x="([\d.]+)" y="[\d.]+" text-anchor="end"', svg).group(1))  # type: ignore[union-attr]
    assert x >= 7.3 * max(map(len, texts))  # its longest line fits left of where it ends


@pytest.mark.parametrize("text", [LONG, "short", "", "x" * 200, "中文模型" * 20, "a b c " * 30, "-" * 90])
def test_wrapped_lines_fit_and_hold_the_whole_text(text: str) -> None:
    lines = wrapped(text, 30)
    assert "".join(lines) == text
    assert all(width(line.rstrip()) <= 30 for line in lines)


def test_a_figure_without_rows_or_numbers_is_drawn_all_the_same() -> None:
    pytest.importorskip("matplotlib")
    from annotate.reports.print_figures import print_figure

    for rows in ((), FIGURE.rows[1:]):
        figure = replace(FIGURE, rows=rows)
        assert to_svg(document(), figure, alone=True).endswith("</svg>")
        assert print_figure(document(), figure)["png"].startswith(b"\x89PNG")


def test_hostile_names_keep_no_figure_from_being_drawn() -> None:
    pytest.importorskip("matplotlib")
    from annotate.reports.print_figures import print_figure

    names = [text[:120] for text in CORPUS.values()]
    rows = tuple(replace(FIGURE.rows[0], label=(Name(text),)) for text in names)
    figure = replace(FIGURE, rows=rows, title=tuple(Name(text) for text in names), axis="".join(names)[:400])
    drawn = print_figure(document(), figure)
    assert drawn["pdf"].startswith(b"%PDF")
    assert not re.search(rb"[\x00-\x08\x0b\x0e-\x1f]", drawn["svg"])
    assert not re.search(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u202a-\u202e]", to_svg(document(), figure, alone=True))
