"""What the tests of the study file share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from builder import protocol, seeded, small_study
from pack_builder import pack

from db.coding import CodingSession
from db.study import Study, create_study


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """An empty study under the test codebook."""
    with create_study(tmp_path / "study.db", protocol(), title="Test", random_bytes=seeded(5)) as made:
        yield made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A study of six units that A and B have to code."""
    return small_study(tmp_path / "study.db", "A", "B")


@pytest.fixture
def session(path: Path) -> Iterator[CodingSession]:
    """A at work on it."""
    with CodingSession.open(path, "A", protocol()) as opened:
        yield opened


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The study that packs are made of: six units that A and B have to code."""
    return small_study(tmp_path / "home.db", "A", "B")


@pytest.fixture
def ada(home: Path) -> Path:
    """A's pack of six items, not yet coded."""
    return pack(home).path
