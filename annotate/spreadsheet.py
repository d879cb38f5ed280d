"""An Excel workbook of one sheet from rows, with the standard library alone.

Texts are written as inline strings, which a spreadsheet never runs as formulas; what XML cannot hold becomes U+FFFD.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

LONGEST = 32_767
MOST_ROWS = 1_048_576
_UNFIT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PARTS = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Override PartName="/xl/workbook.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/worksheets/sheet1.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="labels" sheetId="1" r:id="rId1"/></sheets>'
        "</workbook>"
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="rId1" Type="{_OFFICE}/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}


class TooLarge(ValueError):
    """More than a sheet holds."""


def write_workbook(rows: Iterable[Mapping[str, Any]], path: Path, columns: Sequence[str] = ()) -> int:
    """Write the rows under a header line and return their number; ``columns``: header of no row. Raises TooLarge."""
    number = [0]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _PARTS.items():
            archive.writestr(_entry(name), _HEAD + content)
        with archive.open(_entry("xl/worksheets/sheet1.xml"), "w") as sheet:
            sheet.write(f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
            for line in _lines(rows, number):
                sheet.write(line.encode("utf-8"))
            if not number[0] and columns:
                sheet.write(_line(columns).encode("utf-8"))
            sheet.write(b"</sheetData></worksheet>")
    return number[0]


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without a time, so that the same rows give the same bytes."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _lines(rows: Iterable[Mapping[str, Any]], number: list[int]) -> Iterator[str]:
    for row in rows:
        if not number[0]:
            yield _line(row)
        number[0] += 1
        if number[0] >= MOST_ROWS:
            raise TooLarge(f"a sheet holds {MOST_ROWS:,} rows")
        yield _line(row.values())


def _line(values: Iterable[Any]) -> str:
    return f"<row>{''.join(map(_cell, values))}</row>"


def _cell(value: Any) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value!r}</v></c>"
    text = _UNFIT.sub("\ufffd", str(value))
    if len(text) > LONGEST:
        raise TooLarge(f"a cell holds {LONGEST:,} characters, one text has {len(text):,}")
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
