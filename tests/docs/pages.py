"""The pages of the documentation, taken apart: fenced blocks, links, headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
ROOT_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
GENERATED_EXAMPLES = DOCS / "examples"

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")
_MARK = re.compile(r"^<!-- (not run|toml|exit|file): (.*) -->$")
_STUDY = re.compile(r"^<!-- run in: (\w+) -->$", re.MULTILINE)
_INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^()\s]+(?:\([^()]*\)[^()\s]*)?)(?: \"[^\"]*\")?\)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `marks` are the HTML comments right before it, such as ``not run: opens the screen``."""

    page: Path
    line: int
    language: str
    text: str
    marks: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


def pages() -> list[Path]:
    """Every Markdown page that is written for readers; what `annotate report` wrote is not."""
    found = [path for path in DOCS.rglob("*.md") if not _skipped(path)]
    return sorted([*found, *(REPOSITORY / name for name in ROOT_PAGES)])


def _skipped(path: Path) -> bool:
    inside = path.relative_to(DOCS).parts
    return inside[0] == "build" or (inside[0] == "examples" and len(inside) > 2)


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [part for part in _parts(page) if isinstance(part, Block)]


def study(page: Path) -> str:
    """The study that a page's blocks work on as ``study.db``, as it says in ``<!-- run in: NAME -->``; '' without."""
    found = _STUDY.search(page.read_text(encoding="utf-8"))
    return found[1] if found else ""


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return "\n".join(part for part in _parts(page) if isinstance(part, str))


def links(page: Path) -> list[str]:
    """The targets of all links and pictures, code left out."""
    text = _INLINE_CODE.sub("", prose(page))
    return [*_LINK.findall(text), *re.findall(r"<(https?://[^>\s]+)>", text)]


def anchors(page: Path) -> set[str]:
    """What `#…` may name on a page, as GitHub makes it from headings."""
    found: set[str] = set()
    for title in re.findall(r"^#{1,6} +(.*?) *#*$", prose(page), re.MULTILINE):
        slug = _slug(title)
        n = sum(1 for other in found if other == slug or re.fullmatch(re.escape(slug) + r"-\d+", other))
        found.add(f"{slug}-{n}" if n else slug)
    return found | set(re.findall(r"^\(([\w-]+)\)=$", prose(page), re.MULTILINE))


def _slug(title: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def _parts(page: Path) -> Iterator[Block | str]:
    fence, start, language, body = "", 0, "", list[str]()
    marks: dict[str, str] = {}
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        found = _FENCE.match(line)
        if not fence and found:
            fence, start, language, body = found[2], number, found[3].strip(), []
        elif fence and found and found[2].startswith(fence) and not found[3].strip():
            yield Block(page, start, language, "\n".join(body), marks)
            fence, marks = "", {}
        elif fence:
            body.append(line)
        else:
            mark = _MARK.match(line)
            marks = {**marks, mark[1]: mark[2]} if mark else {} if line.strip() else marks
            yield line
    assert not fence, f"{page}: the block that starts on line {start} is not closed"
