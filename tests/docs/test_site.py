"""The built site: no warning, every link leads somewhere, nothing is fetched, no page is wider than a phone."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.pages import DOCS, REPOSITORY

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors and without a way to the network."""
    if importlib.util.find_spec("furo") is None and os.environ.get("CI") != "true":
        pytest.skip("needs the extra docs")
    out = tmp_path_factory.mktemp("site")
    env = os.environ | {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-n", "-q", str(DOCS), str(out)]
    done = subprocess.run(command, cwd=REPOSITORY, env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return out


class Page(HTMLParser):
    """The ids of a page, where its links go, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        self.ids |= {known[name] for name in ("id", "name") if known.get(name)}
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])
        if tag in ("script", "img", "iframe", "source") and known.get("src"):
            self.loads.append(known["src"])
        if tag == "link" and "stylesheet" in known.get("rel", ""):
            self.loads.append(known["href"])


@pytest.fixture(scope="module")
def built(site: Path) -> dict[Path, Page]:
    reports = set(site.rglob("_downloads/**/*.html"))
    return {path: Page(path) for path in site.rglob("*.html") if path not in reports}


def test_every_page_was_built(site: Path, built: dict[Path, Page]) -> None:
    pages = {path.relative_to(DOCS).with_suffix("") for path in [*DOCS.glob("*.md"), *DOCS.glob("benchmarks/*.md")]}
    assert pages <= {path.relative_to(site).with_suffix("") for path in built}


def test_links_of_the_site_lead_somewhere(built: dict[Path, Page]) -> None:
    lost = []
    for path, page in built.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(parts.fragment)
            there = target.is_file() and (not anchor or target not in built or anchor in built[target].ids)
            lost += [] if there else [f"{path.name}: {link}"]
    assert not lost


def test_pages_load_nothing_from_elsewhere(site: Path, built: dict[Path, Page]) -> None:
    for path, page in built.items():
        for load in page.loads:
            assert not re.match(r"(https?:)?//", load), f"{path.name} loads {load}"
            assert (path.parent / load.partition("?")[0]).exists(), f"{path.name}: {load}"
    for style in site.rglob("*.css"):
        found = re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", style.read_text(encoding="utf-8"))
        assert not found, f"{style.name}: {found}"


def test_formulas_are_mathml(site: Path) -> None:
    text = (site / "statistics-agreement.html").read_text(encoding="utf-8")
    assert text.count("<math ") > 20
    assert "MathJax" not in text


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)], ids=["desktop", "phone"])
def test_no_page_is_wider_than_its_window(site: Path, built: dict[Path, Page], width: int, height: int) -> None:
    chromium = shutil.which("chromium")
    if (chromium is None or importlib.util.find_spec("playwright") is None) and os.environ.get("CI") != "true":
        pytest.skip("needs chromium and playwright")
    from playwright import sync_api

    requests: list[str] = []
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.on("request", lambda request: requests.append(request.url))
        for path in built:
            page.goto(path.as_uri())
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, f"{path.name} is {wide} px too wide"
        browser.close()
    assert all(request.startswith(("file:", "data:")) for request in requests)
