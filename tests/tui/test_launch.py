"""Starting the desk: what is loaded, what is refused, what is remembered."""

from __future__ import annotations

import subprocess
import sys

import pytest

from annotate.protocols import load_protocol
from db.errors import AnnotateError
from tests.tui.conftest import acts, several, write_study
from tests.tui.terminal import LAUNCH, Terminal
from tui.preferences import Preferences, load_preferences, save_preferences, wants_plain

HEAVY = {"numpy", "pandas", "scipy", "sklearn", "sqlite_utils", "krippendorff", "openai", "pyarrow"}


@pytest.fixture
def study(tmp_path):
    return write_study(tmp_path / "study.db", load_protocol("ehq"), several(12))


def test_ten_labels_load_nothing_heavy(study, tmp_path):
    with Terminal(study, "ada", "--modules", tmp_path / "modules") as terminal:
        terminal.wait_for("Nine Arch")
        for number in range(1, 11):
            terminal.keys("hw"[number % 2])
            terminal.wait_for(f"{number} done")
        terminal.keys("\x03\r")
        assert terminal.end() == 0
    names = set((tmp_path / "modules").read_text().split())
    assert names & {"db.rows", "db.imports", "tui.plain", "tui.signs", "tui.sheets"} == set()
    modules = {name.partition(".")[0] for name in names}
    assert "textual" in modules
    assert modules & HEAVY == set()
    assert len(acts(study)) == 10


def test_the_first_frame_shows_the_item(study):
    """The decision bar stands under the item: a frame without the item would bring it first."""
    with Terminal(study, "ada") as terminal:
        terminal.wait_for("Nine Arch")
        terminal.read(0.5)
    assert 0 < terminal.output.index(b"Nine Arch") < terminal.output.index(b" LABEL ")


def test_ten_labels_in_plain_mode_load_not_even_textual(study, tmp_path):
    done = subprocess.run(
        [sys.executable, LAUNCH, study, "ada", "--plain", "--modules", tmp_path / "modules"],
        input="h\nw\n" * 5 + "q\ny\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    modules = {name.partition(".")[0] for name in (tmp_path / "modules").read_text().split()}
    assert modules & (HEAVY | {"textual", "asyncio"}) == set()
    assert len(acts(study)) == 10
    assert "\x1b" not in done.stdout


def test_without_a_terminal_the_plain_mode_is_named(study):
    done = subprocess.run([sys.executable, LAUNCH, study, "ada"], input="", capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--plain" in done.stderr
    assert done.stdout == ""


def test_no_mouse_leaves_the_mouse_to_the_terminal(study):
    for options, wanted in [((), True), (("--no-mouse",), False)]:
        with Terminal(study, "ada", *options) as terminal:
            terminal.wait_for("Nine Arch")
            terminal.keys("\x03\r")
            assert terminal.end() == 0
        assert (b"\x1b[?1000h" in terminal.output) is wanted


def test_a_theme_chosen_at_the_desk_is_remembered(study, tmp_path):
    with Terminal(study, "ada", config=tmp_path) as terminal:
        terminal.wait_for("Nine Arch")
        terminal.keys("\x14")
        terminal.wait_for("Theme: light")
        terminal.keys("\x03\r")
        assert terminal.end() == 0
    assert 'theme = "light"' in (tmp_path / "annotate" / "preferences.toml").read_text()


def test_a_keymap_of_the_user_is_taken_and_a_clash_refused(study, tmp_path):
    folder = tmp_path / "annotate"
    folder.mkdir()
    (folder / "keymap.toml").write_text('[labels.ehq]\nHEDGE = "e"\n')
    with Terminal(study, "ada", config=tmp_path) as terminal:
        terminal.wait_for("Nine Arch")
        terminal.keys("e")
        terminal.wait_for("1 done")
        terminal.keys("\x03\r")
        assert terminal.end() == 0
    assert acts(study) == [("label", 1, "HEDGE", None)]
    (folder / "keymap.toml").write_text('[keys]\nundo = "a"\n')
    with Terminal(study, "ada", config=tmp_path) as terminal:
        assert terminal.end() == 2
    assert b"the key a would mean two things: the label ABSTAIN and undo" in terminal.output


def test_preferences(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm")
    assert load_preferences() == Preferences()
    save_preferences(Preferences("light", True, False))
    assert load_preferences() == Preferences("light", True, False)
    assert wants_plain() is True
    assert wants_plain(False) is False
    save_preferences(Preferences())
    assert wants_plain() is False
    monkeypatch.setenv("TERM", "dumb")
    assert wants_plain() is True


@pytest.mark.parametrize("text", ['theme = "pink"', "plain = 3", "colour = true", "theme"])
def test_preferences_that_make_no_sense(tmp_path, monkeypatch, text):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "annotate").mkdir()
    (tmp_path / "annotate" / "preferences.toml").write_text(text)
    with pytest.raises(AnnotateError, match=r"preferences\.toml"):
        load_preferences()


def test_a_click_of_a_real_mouse_labels(study):
    """As xterm sends it (SGR 1006): the column and row of the label's key, pressed and let go."""
    with Terminal(study, "ada") as terminal:
        terminal.wait_for("Nine Arch")
        terminal.read(0.5)
        terminal.keys("\x1b[<0;12;38M\x1b[<0;12;38m")
        terminal.wait_for("1 done")
        terminal.keys("\x03\r")
        assert terminal.end() == 0
    assert acts(study) == [("label", 1, "ABSTAIN", None)]
