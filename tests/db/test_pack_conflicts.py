"""What was coded in a pack and here: conflicts are listed, nothing is overwritten."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builder import protocol
from pack_builder import at_home, bring, code, labels, pack, refused, state

from db.coding import CodingSession
from db.faults import Refused
from db.leases import recall
from db.merge import merge_copy
from db.pack_merge import Conflicts
from db.study import open_study


def test_after_a_recall_a_pack_is_taken_in_unless_the_same_was_coded_here(home: Path, ada: Path) -> None:
    code(ada, "ww")
    with open_study(home) as study:
        assert recall(study, "A") == 6
    late = Path(shutil.copy(home, home.with_name("late.db")))
    bring(home, ada)
    assert labels(home)[:2] == ["WRONG", "WRONG"]
    at_home(late)
    told = refused(late, ada, "coded here, too", Conflicts)
    assert isinstance(told, Conflicts) and [each.item for each in told.conflicts] == ["q1"]
    assert labels(late)[:2] == ["HEDGE", None]


def test_every_conflict_is_listed(home: Path, ada: Path) -> None:
    code(ada, "www")
    with open_study(home) as study:
        recall(study, "A")
    at_home(home)
    at_home(home)
    told = refused(home, ada, "and 1 more", Conflicts)
    assert isinstance(told, Conflicts) and len(told.conflicts) == 2


def test_what_was_undone_here_is_no_conflict(home: Path, ada: Path) -> None:
    """The way out: its coder takes back what was coded here, and the pack comes in."""
    code(ada, "w")
    with open_study(home) as study:
        recall(study, "A")
    at_home(home)
    refused(home, ada, "coded here, too", Conflicts)
    with CodingSession.open(home, "A", protocol()) as desk:
        desk.undo()
    bring(home, ada)
    assert labels(home)[0] == "WRONG" and state(home)


def test_a_pack_that_came_back_and_went_on_does_not_overwrite_what_was_coded_here(home: Path, ada: Path) -> None:
    code(ada, "w")
    bring(home, ada)
    at_home(home, "HEDGE")  # the second item, now at home
    code(ada, "a")  # and in the pack
    refused(home, ada, "coded here, too", Conflicts)
    assert labels(home)[:2] == ["WRONG", "HEDGE"]


def test_two_packs_of_the_same_items_are_a_conflict_whichever_comes_first(home: Path, ada: Path) -> None:
    code(ada, "w")
    with open_study(home) as study:
        recall(study, "A")
    second = pack(home, name="second.pack").path
    refused(home, ada, "is in another pack now", Conflicts)
    code(second, "h")
    other = Path(shutil.copy(home, home.with_name("other.db")))
    bring(home, second)
    refused(home, ada, "was coded in another pack", Conflicts)
    with open_study(other) as study:
        recall(study, "A")
    bring(other, ada)
    refused(other, second, "was coded in another pack", Conflicts)
    assert (labels(home)[0], labels(other)[0]) == ("HEDGE", "WRONG")


def test_a_copy_coded_meanwhile_is_refused_before_and_after_the_pack_comes_back(home: Path) -> None:
    copy = Path(shutil.copy(home, home.with_name("copy.db")))
    there = pack(home).path
    code(there, "w")
    at_home(copy)
    with open_study(home) as study, open_study(copy, read_only=True) as other:
        with pytest.raises(Refused, match="is leased to another log"):
            merge_copy(study, other)
        bring(home, there)
        with pytest.raises(Refused, match="was coded in a pack meanwhile"):
            merge_copy(study, other)
    assert labels(home)[0] == "WRONG"
