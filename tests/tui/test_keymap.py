"""A user's keymap: what it may change, and that a clash is refused with both meanings named."""

from pathlib import Path

import pytest

from annotate.protocols import load_protocol, shipped_protocols
from tui.actions import ACTIONS, BY_NAME, FIXED, spell
from tui.keymap import KeymapError, load_keymap, make_keymap
from tui.keysdoc import keys_markdown
from tui.modes import CODING, Mode


@pytest.fixture
def load(tmp_path):
    def load(text, protocol="ehq"):
        path = tmp_path / "keymap.toml"
        path.write_text(text, encoding="utf-8")
        return load_keymap(load_protocol(protocol), path)

    return load


@pytest.mark.parametrize("name", shipped_protocols())
def test_the_shipped_protocols_have_no_clash(name):
    keymap = load_keymap(load_protocol(name))
    assert set(keymap.labels.values()) == set(load_protocol(name).label_names)


def test_remapping(load):
    keymap = load('[keys]\nundo = "z"\nskip = ["k", "F5"]\n[labels.ehq]\nABSTAIN = "E"\n[labels.other]\nX = "a"\n')
    assert keymap.action(Mode.LABEL, "z") is BY_NAME["undo"]
    assert keymap.action(Mode.LABEL, "u") is None
    assert keymap.action(Mode.LABEL, "f5") is BY_NAME["skip"]
    assert keymap.labels["e"] == "ABSTAIN"
    assert keymap.shown("skip") == "k"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[keys]\nundo = "a"', ["the key a", "the label ABSTAIN", "undo"]),
        ('[keys]\nundo = "n"', ["the key n", "undo", "note"]),
        ('[labels.ehq]\nHEDGE = "a"', ["the key a", "the label ABSTAIN", "the label HEDGE"]),
        ('[labels.ehq]\nHEDGE = "u"', ["the key u", "the label HEDGE", "undo"]),
        ('[keys]\nundo = "enter"', ["Enter", "confirm"]),
        ('[keys]\nundo = "ctrl+i"', ["Ctrl+I", "Tab"]),
        ('[keys]\nundo = "ctrl+shift+1"', ["ctrl+shift+1", "every terminal"]),
        ('[keys]\nundue = "z"', ["undue", "The actions: undo"]),
        ("[keys]\nundo = 7", ["undo", "text"]),
        ("keys = 7", ["section"]),
        ("[key]\n", ["[key]", "[keys]"]),
        ('[labels.ehq]\nMAYBE = "m"', ["MAYBE", "ABSTAIN"]),
        ('[labels.ehq]\nHEDGE = "mm"', ["one character"]),
        ('[keys]\nundo = "', ["keymap.toml"]),
    ],
)
def test_refused(load, text, told):
    with pytest.raises(KeymapError) as refused:
        load(text)
    assert all(words in str(refused.value) for words in told), str(refused.value)
    assert refused.value.exit_code == 2


def test_digits_belong_to_the_rating(load):
    with pytest.raises(KeymapError, match="rating"):
        load('[labels.alignment]\nCORRECT = "1"', "alignment")
    with pytest.raises(KeymapError, match="rating"):
        load('[keys]\nopen = "="', "nas")
    assert load('[labels.ehq]\nCORRECT = "1"').labels["1"] == "CORRECT"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(KeymapError, match=r"none\.toml"):
        load_keymap(load_protocol("ehq"), tmp_path / "none.toml")


def test_ctrl_c_always_leaves():
    keymap = make_keymap(load_protocol("ehq"), {"leave": ("x",)})
    assert keymap.action(Mode.LABEL, "ctrl+c") is BY_NAME["leave"]


def test_the_registry():
    assert len(BY_NAME) == len(ACTIONS)
    for action in ACTIONS:
        assert action.title and action.help.endswith((".", "first."))
        assert all(key == key.lower() for key in action.keys)
    assert {fixed.mode for fixed in FIXED}.isdisjoint(CODING)
    assert [spell(key) for key in ("left", "ctrl+r", "f2", "?", "u", "shift+tab")] == [
        "←",
        "Ctrl+R",
        "F2",
        "?",
        "u",
        "Shift+Tab",
    ]


def test_the_key_reference_is_up_to_date():
    page = Path(__file__).resolve().parents[2] / "docs" / "keys.md"
    assert page.read_text(encoding="utf-8") == keys_markdown(), "run: python -m tui.keysdoc > docs/keys.md"
