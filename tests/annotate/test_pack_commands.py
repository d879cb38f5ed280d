"""Packs at the command line: made, coded line by line, looked at, brought back, taken back, refused."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from annotate.protocols import load_protocol, parse_protocol
from db.pack_codebook import without_judges

Call = Callable[..., tuple[int, str, str]]
SHIPPED = ("alignment", "correctness", "ehq", "nas", "preference", "refusal", "wikiprofile")


@pytest.fixture
def ada(study: Path, call: Call) -> Path:
    path = study.with_name("ada.pack")
    assert call("pack", study, "--coder", "Ada", "--out", path)[0] == 0
    return path


def facts(out: str) -> Any:
    return json.loads(out)


def test_a_pack_is_made_coded_and_brought_back(study: Path, call: Call) -> None:
    path = study.with_name("ada.pack")
    code, out, _ = call("pack", study, "--coder", "Ada", "--out", path, "--json")
    made = facts(out)
    assert code == 0 and (made["items"], made["coder"], made["encrypted"]) == (6, "Ada", False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    code, out, _ = call("code", path, "--plain", typed="c\nw\nu\nn seen twice\nf discuss\nq\ny\n")
    assert code == 0 and "left: 5 of 6" in out and "coder: Ada" in out
    code, out, _ = call("status", path)
    assert code == 0 and "A pack of Ada" in out and "1 done, 0 skipped for good, 5 left" in out
    assert facts(call("status", path, "--json")[1])["flagged"] == 1
    assert call("verify", path)[0] == 0
    assert facts(call("verify", path, "--json")[1])["heads"][0]["rows"] == 5
    code, out, _ = call("merge", study, path, "--plain")  # a table would fold a long path
    assert code == 0 and "ada.pack" in out
    assert "a pack: 'annotate verify' says" in call("doctor", path, "--json")[1]
    assert call("verify", study)[0] == 0
    status = facts(call("status", study, "--json")[1])
    assert [(each["coder"], each["done"]) for each in status["coders"]] == [("Ada", 1), ("Ben", 0)]
    assert "seen twice" in call("questions", study)[1]
    again = facts(call("merge", study, path, "--json")[1])
    assert [(log["added"], log["known"]) for log in again["merged"][0]["logs"]] == [(0, 5)]


def test_whose_pack_it_is(ada: Path, study: Path, call: Call) -> None:
    assert call("code", ada, "--coder", "Ada", "--plain")[0] == 0
    code, _, err = call("code", ada, "--coder", "Ben", "--plain")
    assert code == 2 and "This pack is Ada's, not Ben's." in err
    code, _, err = call("code", study)
    assert code == 2 and "Missing option '--coder'" in err


def test_packs_that_are_out_are_listed_and_taken_back(ada: Path, study: Path, call: Call) -> None:
    (out,) = facts(call("recall", study, "--json")[1])["out"]
    assert (out["coder"], out["assignments"]) == ("Ada", 6)
    assert out["pack"] in call("recall", study)[1]
    code, _, err = call("recall", study, "--coder", "Ada", "--pack", "nothing")
    assert code == 2 and "There is no pack 'nothing' of Ada" in err
    assert call("recall", study, "--pack", out["pack"])[0] == 2
    code, text, _ = call("recall", study, "--coder", "Ada", "--pack", out["pack"])
    assert code == 0 and "Taken back: 6 assignments of Ada." in text
    assert "No pack is out." in call("recall", study)[1]


def test_a_file_that_is_refused_does_not_hold_up_the_others(ada: Path, study: Path, call: Call) -> None:
    ben = study.with_name("ben.pack")
    call("pack", study, "--coder", "Ben", "--out", ben)
    call("code", ada, "--plain", typed="c\nq\ny\n")
    call("code", ben, "--plain", typed="w\nw\nq\ny\n")
    older = Path(shutil.copy(ada, study.with_name("older.pack")))
    call("code", ada, "--plain", typed="c\nq\ny\n")
    broken = study.with_name("broken.pack")
    broken.write_bytes(ben.read_bytes().replace(b"Question 2?", b"Question 9?"))
    missing = study.with_name("missing.pack")
    code, out, err = call("merge", study, ben, broken, missing, ada, older, ada, "--json")
    found = facts(out)
    assert code == 2  # one of them is not there
    assert [(Path(m["source"]).name, m["logs"][0]["added"]) for m in found["merged"]] == [
        ("ben.pack", 2),
        ("ada.pack", 1),  # the older state of it was taken in before
        ("older.pack", 1),
        ("ada.pack", 0),
    ]
    assert ["content is not what was packed" in r["reason"] or "no such file" in r["reason"] for r in found["refused"]]
    assert "was changed" in err and "missing.pack" in err
    code, _, err = call("merge", study, older)
    assert code == 1 and "an older state of it" in err and call("verify", study)[0] == 0


def test_conflicts_are_listed(ada: Path, study: Path, call: Call) -> None:
    call("code", ada, "--plain", typed="c\nc\nq\ny\n")
    call("recall", study, "--coder", "Ada")
    call("code", study, "--coder", "Ada", "--plain", typed="w\nw\nq\ny\n")
    code, out, err = call("merge", study, ada, "--json")
    (refused,) = facts(out)["refused"]
    assert code == 1 and len(refused["conflicts"]) == 2
    assert all("coded here, too" in each["why"] for each in refused["conflicts"])
    assert err.count("  conflict: item q") == 2 and "CORRECT" not in err  # whoever merges may be a coder, too
    assert facts(call("status", study, "--json")[1])["coders"][0]["done"] == 2


def test_what_was_given_to_another_coder_meanwhile_is_said(ada: Path, study: Path, call: Call) -> None:
    call("code", ada, "--plain", typed="c\nc\nq\ny\n")
    call("recall", study, "--coder", "Ada")
    assert call("reassign", study, "--from", "Ada", "--to", "Cyd")[0] == 0
    code, out, err = call("merge", study, ada, "--json")
    assert code == 0 and facts(out)["merged"][0]["withdrawn"] == 2
    assert "2 of its items were given to another coder meanwhile" in err
    assert call("verify", study)[0] == 0


def test_only_one_coder_is_merged(ada: Path, study: Path, call: Call) -> None:
    call("code", ada, "--plain", typed="c\nq\ny\n")
    assert facts(call("merge", study, ada, "--coder", "Ben", "--json")[1])["merged"] == []
    assert facts(call("merge", study, ada, "--coder", "Ada", "--json")[1])["merged"][0]["assignments"] == 1


@pytest.mark.parametrize("command", ["report", "agreement", "assign", "sample", "export", "backup", "log", "judge"])
def test_other_commands_say_that_it_is_a_pack(ada: Path, call: Call, command: str, tmp_path: Path) -> None:
    more = {
        "report": ("--out", tmp_path / "r"),
        "assign": ("--coders", "X"),
        "sample": ("--n", 3),
        "export": ("--out", tmp_path / "x.csv"),
    }
    code, _, err = call(command, ada, *more.get(command, ()))
    assert code == 2 and "annotate code" in err and err.count("\n") == 1


def test_a_pack_in_a_sync_folder_is_not_coded_there_but_merged_from_it(
    ada: Path, study: Path, call: Call, tmp_path: Path
) -> None:
    call("code", ada, "--plain", typed="c\nq\ny\n")
    folder = tmp_path / "Dropbox"
    folder.mkdir()
    there = Path(shutil.move(ada, folder / "ada.pack"))
    code, _, err = call("code", there, "--plain")
    assert code == 2 and "sync folder" in err and "annotate pack" in err
    assert "sync folder" in call("doctor", there, "--json")[1]
    assert "1 done" in call("status", there)[1] and call("verify", there)[0] == 0
    assert facts(call("merge", study, there, "--json")[1])["merged"][0]["assignments"] == 1
    assert [each.name for each in folder.iterdir() if each.name != "ada.pack.d"] == ["ada.pack"]
    there.write_bytes(there.read_bytes()[:5000])
    code, _, err = call("merge", study, there)
    assert code == 2 and err.count("\n") == 1


# --- under a passphrase -----------------------------------------------------------------------------


def quick_age() -> Any:
    """A cipher that costs nothing, in place of half a second a call."""
    folder = str(Path(__file__).parent.parent / "db")
    sys.path.insert(0, folder)
    try:
        found = importlib.import_module("pack_builder")
    finally:
        sys.path.remove(folder)
    return found.QuickAge()


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("pyrage", reason="needs the extra [passphrase]")
    monkeypatch.setattr("db.pack_vault._age", quick_age)
    path = tmp_path / "secret.txt"
    path.write_text("correct horse battery\n", encoding="utf-8")
    path.chmod(0o600)
    return path


def test_an_encrypted_pack_does_it_all(study: Path, call: Call, secret: Path) -> None:
    path = study.with_name("ada.pack")
    by = ("--passphrase-file", secret)
    code, out, _ = call("pack", study, "--coder", "Ada", "--out", path, *by)
    assert code == 0 and "6 items of Ada, encrypted" in out
    assert call("code", path, "--plain", *by, typed="c\nn hush hush\nq\ny\n")[0] == 0
    left = [each for each in path.with_name("ada.pack.d").rglob("*") if each.is_file()]
    assert not left and b"hush" not in path.read_bytes()
    assert "1 done" in call("status", path, *by)[1] and call("verify", path, *by)[0] == 0
    code, _, err = call("merge", study, path)
    assert code == 2 and "no terminal to ask for the passphrase" in err and "--passphrase-file" in err
    assert facts(call("merge", study, path, *by, "--json")[1])["merged"][0]["logs"][0]["added"] == 2
    secret.write_text("something else\n", encoding="utf-8")
    code, _, err = call("code", path, "--plain", *by)
    assert code == 2 and "the passphrase does not open it" in err
    secret.write_text("", encoding="utf-8")
    assert "first line is empty" in call("code", path, "--plain", *by)[2]


def test_a_passphrase_is_the_same_however_a_system_writes_its_letters(study: Path, call: Call, secret: Path) -> None:
    """An ä of one code point and one of two (as some systems write it), a line end of Windows, a byte order mark."""
    path = study.with_name("ada.pack")
    secret.write_bytes("p\u00e4sswort\n".encode())
    assert call("pack", study, "--coder", "Ada", "--out", path, "--passphrase-file", secret)[0] == 0
    for spelled in (b"pa\xcc\x88sswort\r\n", b"\xef\xbb\xbfp\xc3\xa4sswort"):
        secret.write_bytes(spelled)
        assert call("status", path, "--passphrase-file", secret)[0] == 0


def test_a_passphrase_that_others_may_read_is_said_to_be_one(study: Path, call: Call, secret: Path) -> None:
    path = study.with_name("ada.pack")
    secret.chmod(0o644)
    code, _, err = call("pack", study, "--coder", "Ada", "--out", path, "--passphrase-file", secret)
    assert code == 0 and f"others on this machine may read this passphrase. Close it to them: chmod 600 {secret}" in err
    secret.chmod(0o600)
    assert "others on this machine" not in call("status", path, "--passphrase-file", secret)[2]


def test_a_passphrase_that_is_typed_is_not_shown_and_must_be_typed_twice(
    study: Path, call: Call, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(("one two three", "one two four", "one two three", "one two three"))
    monkeypatch.setattr("getpass.getpass", lambda prompt, stream: next(answers))
    path = study.with_name("ada.pack")
    code, _, err = call("pack", study, "--coder", "Ada", "--out", path, "--passphrase", terminal=True)
    assert code == 2 and "The two passphrases differ; nothing was packed." in err and not path.exists()
    assert call("pack", study, "--coder", "Ada", "--out", path, "--passphrase", terminal=True)[0] == 0


@pytest.mark.parametrize("command", ["pack", "code", "merge", "status", "verify"])
def test_without_the_extra_it_is_one_line(
    study: Path, call: Call, secret: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = study.with_name("ada.pack")
    by = ("--passphrase-file", secret)
    if command != "pack":
        assert call("pack", study, "--coder", "Ada", "--out", path, *by)[0] == 0
    monkeypatch.setattr("db.pack_vault._age", lambda: importlib.import_module("pyrage"))
    monkeypatch.setitem(sys.modules, "pyrage", None)
    arguments = {
        "pack": ("pack", study, "--coder", "Ada", "--out", path),
        "code": ("code", path, "--plain"),
        "merge": ("merge", study, path),
        "status": ("status", path),
        "verify": ("verify", path),
    }
    code, _, err = call(*arguments[command], *by)
    assert code == 2 and "[passphrase]" in err and err.count("\n") == 1
    if command == "pack":
        assert "No pack is out." in call("recall", study)[1]


# --- what a pack must not cost or tell --------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
def test_the_codebook_in_a_pack_is_the_same_but_for_judges(name: str) -> None:
    whole = load_protocol(name)
    packed = parse_protocol(without_judges(whole.toml), name)
    differ = {each.name for each in fields(whole) if getattr(whole, each.name) != getattr(packed, each.name)}
    assert differ <= {"judges", "digest", "toml"} and packed.judges == ()


def test_strange_texts_survive_without_judges() -> None:
    text = (
        'title = "a \\"quote\\" \\u007f \\\\ [judge.x] é 🙂"\n'
        'note = """\nline\n[judge.y]\n"""\nn = 1.5\nb = true\n"key with.dot" = [1, "two", {a = "b"}]\n'
        '[judge.secret.map]\n"A" = "B"\n[other]\nx = "y"\n'
    )
    import tomllib

    told = tomllib.loads(text)
    found = without_judges(text)
    assert tomllib.loads(found) == {key: value for key, value in told.items() if key != "judge"}
    assert "secret" not in found


def test_coding_a_study_imports_nothing_of_packs(study: Path) -> None:
    program = (
        "import sys, io\nsys.stdin = io.StringIO('c\\nq\\ny\\n')\nfrom annotate.__main__ import run\n"
        f"assert run(['code', {str(study)!r}, '--coder', 'Ada', '--plain']) == 0\n"
        "found = [m for m in sys.modules if 'pack' in m.rpartition('.')[2] and m.startswith(('db.', 'annotate.'))]\n"
        "found += [m for m in ('pyrage', 'sqlite_utils', 'getpass2') if m in sys.modules]\n"
        "sys.stderr.write(repr(found))"
    )
    paths = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        check=True,
    )
    assert done.stderr.endswith("[]")
