"""The key machine as a table: (protocol, keys, what is seen) to (mode, effects). No screen, no file, no clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.protocols import load_protocol, shipped_protocols
from tui import effects as fx
from tui.actions import ACTIONS
from tui.keymachine import Desk, Press, Sight, State, fresh, paste, step
from tui.keymap import load_keymap
from tui.modes import Mode

DESKS = {name: Desk(load_protocol(name), load_keymap(load_protocol(name))) for name in shipped_protocols()}
CHARACTERS = {"space": " "}


def press(key):
    return Press(key.lower() if len(key) == 1 else key, key if len(key) == 1 else CHARACTERS.get(key))


def run(desk, keys, sight=None, state=None):
    """The state after ``keys`` (names apart by blanks), and all effects but notices."""
    state, effects = state or fresh(desk), []
    for key in keys.split():
        state, more = step(state, press(key), desk, sight or Sight())
        effects += more
    return state, [effect for effect in effects if not isinstance(effect, fx.Notice)]


def typed(effects):
    """Named tuples of different kinds can be equal: their kind counts too."""
    return [(type(effect), *effect) for effect in effects]


def notices(desk, keys, sight=None):
    state, told = fresh(desk), []
    for key in keys.split():
        state, more = step(state, press(key), desk, sight or Sight())
        told += [effect.text for effect in more if isinstance(effect, fx.Notice)]
    return told


IMPOSSIBLE = Sight(impossible={"CORRECT": "nothing to be right about"})
NOTED = Sight(impossible={"CORRECT": "nothing to be right about"}, note="said")

TABLE = [
    # One key a label, upper or lower case.
    ("ehq", "a", None, Mode.SAVING, [fx.Commit("ABSTAIN", None, None)]),
    ("ehq", "H", None, Mode.SAVING, [fx.Commit("HEDGE", None, None)]),
    ("wikiprofile", "o", None, Mode.SAVING, [fx.Commit("OTHER", None, None)]),
    ("preference", "t", None, Mode.SAVING, [fx.Commit("TIE", None, None)]),
    # A label and its rating in three keys at most.
    ("alignment", "c", None, Mode.RATING, []),
    ("alignment", "c 7 0", None, Mode.SAVING, [fx.Commit("CORRECT", 70, None)]),
    ("alignment", "c 7 enter", None, Mode.SAVING, [fx.Commit("CORRECT", 70, None)]),
    ("alignment", "c =", None, Mode.SAVING, [fx.Commit("CORRECT", 100, None)]),
    ("alignment", "h", None, Mode.SAVING, [fx.Commit("HEDGE", None, None)]),
    # Only a rating.
    ("nas", "8 5", None, Mode.SAVING, [fx.Commit(None, 85, None)]),
    ("nas", "=", None, Mode.SAVING, [fx.Commit(None, 100, None)]),
    # A digit is never a label, a letter never a rating; both are refused and change nothing.
    ("ehq", "7 0", None, Mode.LABEL, []),
    ("ehq", "=", None, Mode.LABEL, []),
    ("alignment", "7 0", None, Mode.LABEL, []),
    ("alignment", "c a", None, Mode.RATING, []),
    ("alignment", "c 7 a 0", None, Mode.SAVING, [fx.Commit("CORRECT", 70, None)]),
    ("alignment", "c u n s", None, Mode.RATING, []),
    ("alignment", "c 7 = 5", None, Mode.SAVING, [fx.Commit("CORRECT", 75, None)]),
    ("nas", "8 u 5", None, Mode.SAVING, [fx.Commit(None, 85, None)]),
    ("nas", "c", None, Mode.RATE, []),
    # Taking the label back.
    ("alignment", "c escape", None, Mode.LABEL, []),
    ("alignment", "c backspace", None, Mode.LABEL, []),
    ("alignment", "c 7 backspace backspace h", None, Mode.SAVING, [fx.Commit("HEDGE", None, None)]),
    # A label that cannot occur asks for a note first.
    ("ehq", "c", IMPOSSIBLE, Mode.NOTE, []),
    ("ehq", "c enter", IMPOSSIBLE, Mode.NOTE, []),
    ("ehq", "c escape", IMPOSSIBLE, Mode.LABEL, []),
    ("ehq", "c o k enter", IMPOSSIBLE, Mode.SAVING, [fx.Draft("o"), fx.Draft("ok"), fx.Commit("CORRECT", None, "ok")]),
    ("alignment", "c y enter 9 9", IMPOSSIBLE, Mode.SAVING, [fx.Draft("y"), fx.Commit("CORRECT", 99, "y")]),
    ("ehq", "w", IMPOSSIBLE, Mode.SAVING, [fx.Commit("WRONG", None, None)]),
    ("ehq", "c", NOTED, Mode.SAVING, [fx.Commit("CORRECT", None, "said")]),
    # Not read to its end: said once, nothing is labelled.
    ("ehq", "a", Sight(unseen=12), Mode.LABEL, [fx.Unseen(12)]),
    ("nas", "8", Sight(unseen=12), Mode.RATE, [fx.Unseen(12)]),
    # Note, flag, skip.
    ("ehq", "n h i enter", None, Mode.SAVING, [fx.Opened(Mode.NOTE), fx.Draft("h"), fx.Draft("hi"), fx.SaveNote("hi")]),
    ("ehq", "n a escape a", None, Mode.SAVING, [fx.Opened(Mode.NOTE), fx.Draft("a"), fx.Commit("ABSTAIN", None, None)]),
    ("ehq", "f d", None, Mode.SAVING, [fx.Opened(Mode.FLAG), fx.Flag("discuss")]),
    ("ehq", "f f", None, Mode.SAVING, [fx.Opened(Mode.FLAG), fx.Flag("discuss")]),
    ("ehq", "f t", None, Mode.SAVING, [fx.Opened(Mode.FLAG), fx.Flag("technical")]),
    ("ehq", "f a escape", None, Mode.LABEL, [fx.Opened(Mode.FLAG)]),
    ("ehq", "s 1", None, Mode.SAVING, [fx.Opened(Mode.SKIP), fx.Skip("cannot be judged")]),
    ("ehq", "s down enter", None, Mode.SAVING, [fx.Opened(Mode.SKIP), fx.Skip("needs expertise that I lack")]),
    ("ehq", "s 9", None, Mode.SKIP, [fx.Opened(Mode.SKIP)]),
    ("ehq", "s escape", None, Mode.LABEL, [fx.Opened(Mode.SKIP)]),
    ("ehq", "s 0 w h y enter", None, Mode.SAVING, [fx.Opened(Mode.SKIP), fx.Skip("why")]),
    ("ehq", "s 0 enter", None, Mode.REASON, [fx.Opened(Mode.SKIP)]),
    # Undo, redo, moving about.
    ("ehq", "u", None, Mode.LABEL, [fx.Run("undo")]),
    ("ehq", "ctrl+r", None, Mode.LABEL, [fx.Run("redo")]),
    ("ehq", "left right .", None, Mode.LABEL, [fx.Run("previous"), fx.Run("next"), fx.Run("open")]),
    ("ehq", "g 1 2 enter", None, Mode.LABEL, [fx.Opened(Mode.GO), fx.GoTo(12)]),
    ("ehq", "g 1 backspace 3 enter", None, Mode.LABEL, [fx.Opened(Mode.GO), fx.GoTo(3)]),
    ("ehq", "g down down enter", Sight(rows=5), Mode.LABEL, [fx.Opened(Mode.GO), fx.Pick(2)]),
    ("ehq", "g n", None, Mode.LABEL, [fx.Opened(Mode.GO), fx.Run("open")]),
    ("ehq", "g f", None, Mode.LABEL, [fx.Opened(Mode.GO), fx.Run("flagged")]),
    ("ehq", "g s", None, Mode.LABEL, [fx.Opened(Mode.GO), fx.Run("skipped")]),
    # Reading.
    ("ehq", "space tab end", None, Mode.LABEL, [fx.Run("page_down"), fx.Run("panel"), fx.Run("end")]),
    ("alignment", "c space tab", None, Mode.RATING, [fx.Run("page_down"), fx.Run("panel")]),
    ("ehq", "/ a enter up escape", None, Mode.LABEL,
     [fx.Opened(Mode.SEARCH), fx.Find("a", 0), fx.Find("a", 1), fx.Find("a", -1), fx.Find("", 0)]),
    ("ehq", "ctrl+d", None, Mode.LABEL, [fx.Run("differences")]),
    # The codebook: a label's key shows its rule and labels nothing.
    ("ehq", "? h escape", None, Mode.LABEL, [fx.Opened(Mode.HELP)]),
    ("alignment", "c ? escape", None, Mode.RATING, [fx.Opened(Mode.HELP)]),
    # The palette carries out what it names.
    ("ehq", "ctrl+p u n d o enter", None, Mode.LABEL, [fx.Opened(Mode.PALETTE), fx.Run("undo")]),
    ("ehq", "ctrl+p z z z enter", None, Mode.PALETTE, [fx.Opened(Mode.PALETTE)]),
    # Leaving asks first, from anywhere.
    ("ehq", "ctrl+c", None, Mode.LEAVE, []),
    ("ehq", "ctrl+c escape", None, Mode.LABEL, []),
    ("ehq", "ctrl+c enter", None, Mode.LEAVE, [fx.Leave()]),
    ("ehq", "ctrl+c ctrl+c", None, Mode.LEAVE, [fx.Leave()]),
    ("ehq", "q a", None, Mode.LEAVE, [fx.Opened(Mode.LEAVE)]),
    ("ehq", "n a ctrl+c escape", None, Mode.NOTE, [fx.Opened(Mode.NOTE), fx.Draft("a")]),
    ("alignment", "c 7 ctrl+c escape 0", None, Mode.SAVING, [fx.Commit("CORRECT", 70, None)]),
    ("ehq", "f2 escape", None, Mode.LABEL, [fx.Opened(Mode.SUMMARY)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("protocol", "keys", "sight", "mode", "effects"), TABLE, ids=[f"{row[0]} {row[1]}" for row in TABLE]
)
def test_table(protocol, keys, sight, mode, effects):
    state, done = run(DESKS[protocol], keys, sight)
    assert (state.mode, typed(done)) == (mode, typed(effects))


@pytest.mark.parametrize(
    ("protocol", "keys", "told"),
    [
        ("alignment", "7", "choose the label first"),
        ("alignment", "c c", "expected a rating"),
        ("alignment", "c 7 x", "Enter for 70"),
        ("ehq", "7", "means nothing here"),
        ("ehq", "x", "? shows the keys"),
        ("alignment", "c escape", "CORRECT is taken back"),
        ("ehq", "n f5", "means nothing while you type"),
    ],
)
def test_a_refused_key_says_so(protocol, keys, told):
    assert told in notices(DESKS[protocol], keys)[-1]


def test_the_rule_looked_up_stays_in_view():
    state, _ = run(DESKS["ehq"], "? h escape")
    assert state.looked_up == "HEDGE"


def test_states_of_saving_failure_change_and_end():
    desk = DESKS["ehq"]
    assert run(desk, "a u", state=State(Mode.SAVING)) == (State(Mode.SAVING), [])
    assert run(desk, "enter", state=State(Mode.FAILED))[1] == [fx.Retry()]
    assert run(desk, "escape", state=State(Mode.FAILED)) == (fresh(desk), [fx.Drop()])
    assert run(desk, "a", state=State(Mode.FAILED)) == (State(Mode.FAILED), [])
    assert run(desk, "a space", state=State(Mode.PROTOCOL)) == (State(Mode.PROTOCOL), [fx.Run("page_down")])
    assert run(desk, "enter", state=State(Mode.PROTOCOL))[1] == [fx.ConfirmProtocol()]
    assert run(desk, "a 7 u left", state=State(Mode.DONE)) == (State(Mode.DONE), [fx.Run("undo"), fx.Run("previous")])


def test_paste_is_text_only_where_text_is_typed():
    state, effects = paste(fresh(DESKS["ehq"]), "aaa")
    assert (state, [type(effect) for effect in effects]) == (fresh(DESKS["ehq"]), [fx.Notice])
    note, _ = run(DESKS["ehq"], "n")
    state, effects = paste(note, "two\nlines")
    assert (state.line.text, effects) == ("two lines", (fx.Draft("two lines"),))


NAMED = "enter escape backspace up down left right tab space ctrl+c ctrl+p ctrl+d ctrl+r f2 home end pageup pagedown f5"
KEYS = st.sampled_from([*"abcdefghijklmnopqrstuvwxyz0123456789=?/.", *NAMED.split()])


@given(st.sampled_from(sorted(DESKS)), st.lists(KEYS, max_size=30))
def test_any_keys_lead_to_a_mode_with_a_handler_and_no_label_without_its_key(name, keys):
    desk = DESKS[name]
    state = fresh(desk)
    for key in keys:
        before = state
        state, effects = step(state, press(key), desk, Sight(rows=3))
        for effect in effects:
            if isinstance(effect, fx.Commit):
                by_label = before.mode is Mode.LABEL and desk.keymap.labels.get(key) == effect.label
                by_rating = before.mode in (Mode.RATING, Mode.RATE) and key in "0123456789=enter"
                assert by_label or by_rating
                assert desk.protocol.asks_rating(effect.label) == (effect.rating is not None)
        if state.mode is Mode.SAVING:
            state = fresh(desk)


def test_every_action_is_done_by_its_keys():
    desk = DESKS["ehq"]
    for action in ACTIONS:
        for key in action.keys:
            state, effects = step(fresh(desk), press(key), desk, Sight())
            assert state.mode is not Mode.LABEL or effects == (fx.Run(action.name),), action.name
