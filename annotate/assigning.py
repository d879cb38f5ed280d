"""Handing out the sample: the workflow's side of an assignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from annotate.studies import study_protocol
from db.assigning import Assigned
from db.assigning import assign as store_assignment
from db.orders import OrderKind
from db.records import RoundKind
from db.study import Study

KINDS: tuple[RoundKind, ...] = ("training", "main", "check", "repeat", "adjudication")


def kind_of_round(name: str, kind: str | None) -> RoundKind:
    """The kind that was named, or that the round's name says; a round of any other name is a check."""
    return next((known for known in KINDS if known == (kind or name)), "check")


def hand_out(
    study: Study,
    coders: Sequence[str],
    *,
    overlap: float,
    order: str,
    repeats: float,
    seed: str,
    round_name: str,
    kind: RoundKind,
    again: bool,
    simulated: bool = False,
    hold: bool = False,
) -> Assigned:
    """Give the sample's units to the coders; pairs change sides at random where the protocol compares two texts."""
    return store_assignment(
        study,
        coders,
        seed=seed,
        overlap=overlap,
        round_name=round_name,
        kind=kind,
        order=cast(OrderKind, order),
        repeats=repeats,
        again=again,
        coder_kind="simulated" if simulated else "person",
        pairwise=study_protocol(study).pairwise,
        released=not hold,
    )


def assigned_facts(found: Assigned) -> dict[str, Any]:
    """An assignment as plain JSON values."""
    return {
        "batch": found.batch,
        "round": found.round,
        "units": found.units,
        "overlap": found.overlap,
        "coders": [
            {
                "coder": load.coder.name,
                "pseudonym": load.coder.pseudonym,
                "units": load.units,
                "repeats": load.repeats,
                "left_out": load.left_out,
            }
            for load in found.loads
        ],
    }
