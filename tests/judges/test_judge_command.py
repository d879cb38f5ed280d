"""The command as a person uses it: one line on stdout or stderr for everything, and the right exit code."""

import json
import sqlite3
from contextlib import closing

import pytest

from annotate.__main__ import run
from annotate.judges.prompts import SHIPPED
from tests.judges.conftest import KEY, build, rows
from tests.judges.openai_server import Do, error, label

pytestmark = pytest.mark.usefixtures("key", "quick")


@pytest.fixture
def said(capsys):
    """Run a command and return (exit code, stdout, stderr)."""

    def call(*arguments):
        code = run(["judge", *map(str, arguments)])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return call


def test_help_names_the_group_text(said):
    from annotate.cli import COMMANDS

    code, out, _ = said("--help")
    assert code == 0 and COMMANDS["judge"][1] in out


def test_a_run_from_the_command_line(tmp_path, serve, said):
    server = serve(lambda seen: Do(label("HEDGE") if seen.marker != "2" else "hm"))
    path = build(tmp_path / "s.db", 3)
    llm = (path, "--judge", "gpt", "--model", "gpt-4o-mini", "--base-url", server.url)
    code, out, err = said(*llm)
    assert code == 2 and "Nothing was sent" in err and f"--yes-send-to {server.host}" in err
    code, out, err = said(*llm, "--yes-send-to", server.host)
    assert code == 0 and "gpt: 3 replies stored (1 no label), 0 failed, 0 left." in out
    assert "3 of 3 done, 0 failed, 1 no label" in err and f"3 calls to {server.host}." in err
    code, out, err = said(*llm, "--json")
    outcome = json.loads(out)["runs"][0]
    assert code == 0 and outcome["calls"] == 0 and outcome["stored_before"] == 3
    code, out, err = said(path)
    assert code == 0 and "gpt" in out and "gpt-4o-mini" in out
    assert json.loads(said(path, "--json")[1])["judges"][0]["not_labels"] == 1


def test_dry_run_counts_and_prices_and_sends_nothing(tmp_path, serve, said):
    server = serve()
    path = build(tmp_path / "s.db", 10)
    llm = (path, "--judge", "gpt", "--model", "gpt-4o-mini", "--base-url", server.url, "--dry-run")
    code, out, _ = said(*llm, "--repeat", "2", "--limit", "12")
    assert code == 0 and "12 calls" in out and "about $" in out and "Nothing was sent." in out
    found = json.loads(said(*llm, "--json")[1])[0]
    assert found["calls"] == 10 and found["prompt_tokens"] > 10 * 500
    # Four bytes a token, at $0.15 and $0.60 a million, with 120 reply tokens a call.
    assert found["about"] == pytest.approx((found["prompt_tokens"] * 0.15 + 10 * 120 * 0.60) / 1e6)
    assert found["about"] < found["at_most"]
    assert server.count == 0 and rows(path, "SELECT * FROM judges") == []
    assert "price unknown" in said(path, "--judge", "g", "--model", "mine", "--dry-run")[1]
    halved = json.loads(said(*llm, "--json", "--batch")[1])[0]
    assert halved["about"] == pytest.approx(found["about"] / 2)


def test_dry_run_needs_no_key(tmp_path, said, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    path = build(tmp_path / "s.db", 1)
    assert said(path, "--judge", "g", "--model", "gpt-4o-mini", "--dry-run")[0] == 0
    code, _, err = said(path, "--judge", "g", "--model", "gpt-4o-mini", "--yes-send-to", "api.openai.com")
    assert code == 2 and "OPENAI_API_KEY is not set" in err and rows(path, "SELECT * FROM judges") == []


def test_failures_and_stops_exit_with_one(tmp_path, serve, said):
    server = serve(lambda seen: error(400, "too long") if seen.marker == "2" else Do(label("HEDGE")))
    path = build(tmp_path / "s.db", 3)
    llm = (path, "--judge", "gpt", "--model", "gpt-4o-mini", "--base-url", server.url, "--yes-send-to", server.host)
    assert said(*llm)[0] == 1
    server.script = lambda seen: error(401, "Incorrect API key provided")
    code, _, err = said(*llm[:2], "other", *llm[3:])
    assert code == 1 and "Stopped: http 401" in err and "Traceback" not in err


def test_repeat_and_swap_are_reported(tmp_path, serve, said):
    server = serve(lambda seen: Do(label("FIRST")))
    path = build(tmp_path / "s.db", 2, "preference", text_b="b")
    llm = (path, "--judge", "gpt", "--model", "gpt-4o-mini", "--base-url", server.url, "--yes-send-to", server.host)
    code, out, _ = said(*llm, "--repeat", "2", "--swap")
    assert code == 0 and "the same label each time on 2 of 2 (100.0 %)" in out
    assert "the same label on 0 of 2 (0.0 %) responses, 2 changed" in out and "first won both times on 2" in out
    found = json.loads(said(*llm, "--swap", "--json")[1])
    assert found["order_check"]["favours_first"] == 2 and found["self_agreement"]["unanimous"]["k"] == 2
    assert (
        json.loads(rows(path, "SELECT origin FROM judges WHERE name = 'gpt (swapped)'")[0]["origin"])["swapped"] is True
    )


def test_rules_from_the_command_line(tmp_path, said):
    path = build(tmp_path / "s.db", 2, text="It is 42.")
    assert said(path, "--judge", "m", "--rule", "contains")[0] == 0
    assert said(path, "--judge", "e", "--rule", "exact")[0] == 0
    assert said(path, "--judge", "p", "--majority", "m,e")[1].startswith("p: 2 replies stored (2 no label)")
    file = tmp_path / "f.py"
    file.write_text("def f(s):\n    return 'yes' if '42' in s['response'] else 'no'\n", "utf-8")
    code, out, _ = said(path, "--judge", "c", "--callable", f"{file}:f", "--map", "yes=CORRECT", "--map", "no=WRONG")
    assert code == 0 and "c: 2 replies stored (0 no label)" in out
    pairs = json.loads(said(path, "--json")[1])["pairs"]
    assert {(p["first"], p["second"]): p["same_label"]["k"] for p in pairs}[("m", "c")] == 2


def test_an_imported_judge_gets_a_version_and_shows_its_file(tmp_path, said):
    path = build(tmp_path / "s.db", 1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO sources (id, import_id, name, sha256, bytes, rows) VALUES (1, 1, 'run.eval', 'x', 1, 1)"
        )
        connection.execute("INSERT INTO judges (id, name, kind, created_utc) VALUES (1, 'gpt4', 'imported', '')")
        connection.execute(
            "INSERT INTO judge_labels (judge_id, response_id, raw, raw_key, source_id) VALUES (1, 1, 'C', 'C', 1)"
        )
    assert said(path, "--judge", "gpt4", "--set-version", "gpt-4-0613, June 2023")[0] == 0
    (found,) = json.loads(said(path, "--json")[1])["judges"]
    assert (found["name"], found["version"], found["files"]) == ("gpt4", "gpt-4-0613, June 2023", ["run.eval"])
    assert "run.eval" in said(path)[1]
    assert said(path, "--judge", "nobody", "--set-version", "1")[0] == 2
    assert said(path, "--judge", "m", "--rule", "exact")[0] == 0
    assert "was run here" in said(path, "--judge", "m", "--set-version", "9")[2]
    assert said(path, "--judge", "m", "--rule", "exact", "--set-version", "9")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--judge", "x"), "one of --model"),
        (("--model", "m"), "Name the judge"),
        (("--judge", "x", "--model", "m", "--rule", "exact"), "one of --model"),
        (("--judge", "x", "--model", "m", "--temperature", "hot"), "--temperature"),
        (("--judge", "x", "--rule", "exact", "--dry-run"), "belong to an LLM judge"),
        (("--judge", "x", "--rule", "exact", "--map", "yes=MAYBE"), "'MAYBE' is not a label"),
        (("--judge", "x", "--rule", "exact", "--map", "yes"), "expected RAW=LABEL"),
        (("--judge", "x", "--model", "m", "--prompt", "none.txt"), "cannot be read"),
        (("--judge", "x", "--model", "m", "--task", "alignment", "--swap"), "has none"),
        (("--judge", "x", "--majority", "a,b"), "no judge 'a'"),
        (("--judge", " ", "--model", "m"), "needs a name"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(tmp_path, said, arguments, complaint):
    path = build(tmp_path / "s.db", 1)
    code, out, err = said(path, *arguments)
    assert code == 2 and complaint in err and out == "" and err.count("\n") == 1
    assert rows(path, "SELECT * FROM judges") == []


def test_an_error_of_ours_leaves_no_key_in_its_log(tmp_path, serve, said, monkeypatch, capsys):
    """A fault in the middle of a call: one line on the screen, and a traceback beside the study without the key."""
    path = build(tmp_path / "s.db", 2)
    server = serve()
    monkeypatch.setattr("annotate.judges.endpoint.read_completion", lambda data: 1 / 0)
    code, out, err = said(
        *(path, "--judge", "g", "--model", "gpt-4o-mini", "--base-url", server.url, "--yes-send-to", server.host)
    )
    assert code == 70 and "ZeroDivisionError" in err and KEY not in out + err
    (log,) = tmp_path.rglob("crash-*.log")
    assert "ZeroDivisionError" in log.read_text("utf-8") and KEY not in log.read_text("utf-8")
    assert "quite+secret" not in log.read_text("utf-8")


def test_every_shipped_prompt_is_used():
    assert set(SHIPPED) == {"label", "pair", "alignment", "grade"}
