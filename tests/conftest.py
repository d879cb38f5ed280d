"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


def _shared() -> Path:
    return Path(os.environ.get("ANNOTATE_SHARED", REPOSITORY.parent / "shared"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real runs and labels that stands beside a developer's checkout; absent elsewhere."""
    folder = _shared() / "data"
    if not folder.is_dir():
        message = f"needs the shared data folder ({folder}), which is not part of the project"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder
