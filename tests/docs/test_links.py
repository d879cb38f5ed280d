"""Links between pages, to files and to headings lead somewhere; links to the outside are well formed. No network."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.docs.pages import REPOSITORY, anchors, links, pages

PAGES = [pytest.param(page, id=str(page.relative_to(REPOSITORY))) for page in pages()]


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            parts = urlsplit(link)
            assert parts.scheme in ("https", "http", "mailto"), link
            assert parts.scheme == "mailto" or ("." in parts.netloc and " " not in link), link
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link}: there is no {target}"
        assert target.is_relative_to(REPOSITORY), link
        if anchor:
            assert target.suffix == ".md" and anchor in anchors(target), f"{link}: no such heading"


def test_pictures_of_the_readme_are_there_and_small() -> None:
    pictures = [link for link in links(REPOSITORY / "README.md") if link.startswith("docs/images/")]
    assert len(pictures) >= 3
    for picture in pictures:
        assert 1_000 < (REPOSITORY / picture).stat().st_size < 600_000, picture
