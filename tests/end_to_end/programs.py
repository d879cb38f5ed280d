"""Programs that a slow test runs: it skips where one is absent, and fails where CI=true."""

from __future__ import annotations

import os
import shutil

import pytest


def program(*names: str) -> str:
    """The path of the first of these programs that is there."""
    for name in names:
        if path := shutil.which(name):
            return path
    message = f"needs {' or '.join(names)}, which is not installed"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)
