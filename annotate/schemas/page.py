"""docs/json.md, what every command prints with --json: ``python -m annotate.schemas.page`` prints the page."""

from __future__ import annotations

from collections.abc import Iterator

from annotate.schemas.documents import Document, Value, documents, shapes

HEAD = """# What machines read: `--json`

Every command takes `--json` and then prints one JSON document on standard output; notices and progress
go to standard error. Undefined numbers are `null`, with a reason beside them; NaN never occurs. Exit codes are the same
as without `--json`: 0 done, 1 the answer is no, 2 bad input.

`annotate schema COMMAND` prints the JSON Schema (2020-12) of a command's document, `annotate schema results` that of a
report's `results.json`. `annotate agreement --json` prints the sections of `results.json` that rest on agreement, and
`annotate impact --json` a document of its own: for these two the schema is the reference. All others stand below.

A path such as `coders[].left` is the value `left` of each entry of the list `coders`; `by_label{}` is each value of an
object whose names are data, such as labels or models; `*` stands for any further name. A type with `?` can be `null`.

This page is made of `annotate/schemas/commands.toml` by `python -m annotate.schemas.page`; a test checks that it is
current.
"""


def page() -> Iterator[str]:
    """The page, line by line."""
    yield HEAD.rstrip("\n")
    before = ""
    for each in documents():
        if each.command != before:
            yield from ("", f"## annotate {each.command}")
            before = each.command
        yield from _section(each)
    yield from ("", "## Shapes that several documents share")
    for name, values in shapes().items():
        yield from ("", f"### {name}", "", *_table(values))


def _section(each: Document) -> Iterator[str]:
    yield from ("", f"{each.when[0].upper()}{each.when[1:]}:", "", *_table(each.values))


def _table(values: tuple[Value, ...]) -> Iterator[str]:
    yield from ("| value | type | what it is |", "|---|---|---|")
    for value in values:
        kind = f"[{value.type}](#{value.type})" if value.type in shapes() else value.type
        kind += "?" if value.nullable else ""
        kind += ", can be absent" if value.optional else ""
        path = f"`{value.path}`" if value.path else "the document"
        yield f"| {path} | {kind} | {value.meaning} |"


if __name__ == "__main__":
    print("\n".join(page()))
