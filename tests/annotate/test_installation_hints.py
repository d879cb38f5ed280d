"""What doctor says of packages, and the command that brings an extra, for each way of installing annotate."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate import checkup, installing
from annotate.loading import load_faults


class Installed:
    """A distribution whose direct_url.json (PEP 610) is given."""

    def __init__(self, origin: dict[str, object] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.origin is None else json.dumps(self.origin)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., str]:
    """``said(origin)``: the hint in an environment that was installed from ``origin``."""

    def say(origin: dict[str, object] | None, *, pip: bool = True) -> str:
        monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Installed(origin))
        monkeypatch.setattr(importlib.util, "find_spec", lambda _: object() if pip else None)
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
        monkeypatch.setenv("PATH", str(tmp_path / "bin"))
        return installing.how_to_add("pdf")

    return say


def test_by_name_where_it_came_from_an_index(said: Callable[..., str], tmp_path: Path) -> None:
    elsewhere = said(None)
    assert elsewhere == f"{tmp_path}/bin/python -m pip install 'annotate-judge[pdf]'"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pip").write_text("#!/bin/sh\n", "utf-8")
    (tmp_path / "bin" / "pip").chmod(0o755)
    assert said(None) == "pip install 'annotate-judge[pdf]'"


def test_from_the_same_place_where_it_came_from_one(said: Callable[..., str]) -> None:
    wheel: dict[str, object] = {"url": "file:///d/a%20b/annotate_judge-1-py3-none-any.whl", "archive_info": {}}
    assert said(wheel).endswith("'annotate-judge[pdf] @ file:///d/a%20b/annotate_judge-1-py3-none-any.whl'")
    folder: dict[str, object] = {"url": "file:///d/a%20b", "dir_info": {}}
    assert said(folder).endswith("pip install '/d/a b[pdf]'")
    editable: dict[str, object] = {"url": "file:///d", "dir_info": {"editable": True}}
    assert said(editable).endswith("pip install -e '/d[pdf]'")
    git: dict[str, object] = {"url": "https://x.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    assert said(git).endswith("'annotate-judge[pdf] @ git+https://x.org/a.git@abc'")


def test_by_uv_where_the_environment_has_no_pip(said: Callable[..., str], tmp_path: Path) -> None:
    assert said(None, pip=False) == f"uv pip install --python '{tmp_path}' 'annotate-judge[pdf]'"


def test_a_package_that_does_not_load_or_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_one.py").write_text("raise ImportError('no libfoo.so.1\\n(it was there)')\n", "utf-8")
    (tmp_path / "fatal_one.py").write_text("import os; os._exit(7)\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    faults = load_faults(["json", "broken_one", "fatal_one", "csv"])
    assert faults == {
        "broken_one": "ImportError: no libfoo.so.1 (it was there)",
        "fatal_one": "Python ended with code 7 while it loaded",
    }
    monkeypatch.delenv("PYTHONPATH")
    (tmp_path / "csv.py").write_text("raise ImportError('of the folder')\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_faults(["csv"]) == load_faults([]) == {}
    monkeypatch.setattr(checkup, "load_faults", lambda _: {"pandas": "ImportError: no libfoo.so.1"})
    monkeypatch.setattr(checkup, "minimum_versions", lambda: {"numpy": "999.1", "rich": "1"})
    found = {each.what: each for each in checkup.examine()}
    assert found["numpy"].state == "bad" and "999.1 or newer is needed" in found["numpy"].detail
    assert found["pandas"].state == "bad" and "does not load: ImportError" in found["pandas"].detail
    assert found["rich"].state == "ok" and found["scipy"].state == "ok"


def test_spark_without_java_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setattr(checkup, "load_faults", lambda _: {})
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert {each.what: each.state for each in checkup.examine()}["Java"] == "missing"
