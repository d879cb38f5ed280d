"""Assignments: the overlap is exact in every stratum, loads are even, orders keep items apart and know no model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from builder import filled, protocol, seeded
from hypothesis import given, settings
from hypothesis import strategies as st

from db.assigning import REPEAT_GAP, Assigned, assign, with_repeats
from db.coding import CodingSession
from db.coverage import coverage
from db.faults import Refused
from db.labels import label_rows
from db.orders import APART, Ordered, in_order, spread
from db.overlap import Group, overlap_sizes, shares
from db.reassigning import reassign
from db.records import Act
from db.rounds import release
from db.sampling import draw, strata_counts
from db.study import Study, create_study
from db.verify import verify


@pytest.fixture
def sampled(tmp_path: Path) -> Study:
    """Forty items with three models; 10 of 40 drawn of every model."""
    study = create_study(tmp_path / "s.db", protocol(), random_bytes=seeded(1))
    filled(study, 40, ("a", "b", "c"))
    study.connection.execute("DELETE FROM units")
    strata = [replace(s, drawn=10) for s in strata_counts(study, ["model"]).strata]
    draw(study, strata, seed=1, by=["model"], allocation="equal", random_bytes=seeded(2))
    return study


def table(study: Study, batch: Assigned | None = None) -> list[tuple[str, str, str, int, int, int]]:
    rows = study.connection.execute(
        "SELECT c.name, u.public_id, r.model, i.id, a.position, a.occurrence FROM assignments a"
        " JOIN coders c ON c.id = a.coder_id JOIN units u ON u.id = a.unit_id JOIN responses r ON r.id = u.response_id"
        " JOIN items i ON i.id = r.item_id WHERE a.batch_id = coalesce(?, a.batch_id) ORDER BY c.id, a.position",
        (None if batch is None else batch.batch,),
    )
    return [tuple(row) for row in rows]


def test_full_overlap_gives_everybody_everything(sampled: Study) -> None:
    done = assign(sampled, ["A", "B"], seed=3)
    assert (done.units, done.overlap) == (30, 30)
    assert [(load.coder.name, load.units) for load in done.loads] == [("A", 30), ("B", 30)]
    rows = table(sampled)
    for name in ("A", "B"):
        assert [row[4] for row in rows if row[0] == name] == list(range(1, 31))
    assert [r[1] for r in rows if r[0] == "A"] != [r[1] for r in rows if r[0] == "B"]
    assert sampled.connection.execute("SELECT DISTINCT overlap, pi2 FROM batch_units").fetchall() == [(1, 1.0)]


def test_partial_overlap_is_exact_in_every_stratum(sampled: Study) -> None:
    done = assign(sampled, ["A", "B", "C"], seed=3, overlap=0.4)
    assert done.overlap == 12 and done.units == 30
    rows = table(sampled)
    times = Counter(row[1] for row in rows)
    model = {row[1]: row[2] for row in rows}
    assert Counter(times.values()) == {3: 12, 1: 18}
    assert Counter(model[unit] for unit, n in times.items() if n == 3) == {"a": 4, "b": 4, "c": 4}
    assert [load.units for load in done.loads] == [18, 18, 18]  # 12 + 18 / 3
    assert sampled.connection.execute("SELECT DISTINCT pi2 FROM batch_units").fetchall() == [(0.4,)]


def test_only_new_units_are_assigned_and_only_further_coders_again(sampled: Study) -> None:
    assign(sampled, ["A"], seed=3)
    with pytest.raises(Refused, match="nothing to assign"):
        assign(sampled, ["A", "B"], seed=3)
    strata = [replace(s, drawn=12) for s in strata_counts(sampled, ["model"]).strata]
    draw(sampled, strata, seed=1, by=["model"], allocation="equal")
    more = assign(sampled, ["A"], seed=3)
    assert more.units == 6
    assert [row[4] for row in table(sampled, more)] == list(range(31, 37))
    again = assign(sampled, ["B"], seed=3, again=True)
    assert [load.units for load in again.loads] == [36]
    with pytest.raises(Refused, match="have every unit"):
        assign(sampled, ["A", "B"], seed=3, again=True)


def test_whole_items_stay_together(tmp_path: Path) -> None:
    study = create_study(tmp_path / "s.db", protocol(), random_bytes=seeded(1))
    filled(study, 20, ("a", "b", "c"))
    strata = [replace(s, drawn=6) for s in strata_counts(study, ["category"], unit="item").strata]
    draw(study, strata, seed=1, by=["category"], unit="item", allocation="equal")
    done = assign(study, ["A", "B"], seed=2, overlap=0.5, order="item")
    assert (done.units, done.overlap) == (36, 18)
    rows = table(study)
    coders: dict[int, set[str]] = {}
    for name, _, _, item, _, _ in rows:
        coders.setdefault(item, set()).add(name)
    assert Counter(len(who) for who in coders.values()) == {2: 6, 1: 6}
    mine = [row[3] for row in rows if row[0] == "A"]
    assert all(mine[k : k + 3] == [mine[k]] * 3 for k in range(0, len(mine), 3))


def test_repeats_come_back_unseen_and_late(sampled: Study) -> None:
    strata = [replace(s, drawn=40) for s in strata_counts(sampled, ["model"]).strata]
    draw(sampled, strata, seed=1, by=["model"], allocation="equal")
    done = assign(sampled, ["A"], seed=3, repeats=0.1)
    assert [(load.units, load.repeats) for load in done.loads] == [(132, 12)]
    first: dict[str, int] = {}
    for _, unit, _, _, position, occurrence in table(sampled):
        if occurrence == 1:
            first[unit] = position
        else:
            assert position - first[unit] >= REPEAT_GAP
    with CodingSession.open(sampled.path, "A", protocol()) as session:
        page = session.queue_page(0, 200)
        assert len({entry.assignment for entry in page}) == 132  # nothing shown tells that one was seen before


def test_a_batch_that_is_not_released_is_in_nobodys_queue(sampled: Study) -> None:
    done = assign(sampled, ["A"], seed=3, released=False)
    with CodingSession.open(sampled.path, "A", protocol()) as session:
        assert session.next() is None and session.progress.total == 0
        assert release(sampled, done.batch) == 30 and release(sampled, done.batch) == 0
        assert session.progress.total == 30 and session.next() is not None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"coders": []}, "at least one"),
        ({"coders": ["A", " A"]}, "named twice"),
        ({"coders": ["  "]}, "cannot be the name"),
        ({"overlap": 1.5}, "from 0 to 1"),
        ({"repeats": -1}, "from 0 to 1"),
        ({"seed": ""}, "seed"),
        ({"round_name": "main", "kind": "training"}, "is of kind main"),
    ],
)
def test_impossible_assignments_are_refused_and_change_nothing(
    sampled: Study, options: dict[str, object], reason: str
) -> None:
    assign(sampled, ["Z"], seed=1)
    before = sampled.connection.execute("SELECT count(*) FROM coders").fetchone()
    with pytest.raises(Refused, match=reason):
        assign(sampled, **{"coders": ["A"], "seed": 1, "again": True, **options})  # type: ignore[arg-type]
    assert sampled.connection.execute("SELECT count(*) FROM coders").fetchone() == before


def test_the_order_knows_no_model(tmp_path: Path) -> None:
    """Two studies that are equal but for the models' names give each coder the same texts in the same order."""

    def texts(name: str, models: tuple[str, ...]) -> list[str]:
        study = create_study(tmp_path / name, protocol(), random_bytes=seeded(1))
        filled(study, 12, models)
        strata = [replace(s, drawn=s.population) for s in strata_counts(study, []).strata]
        draw(study, strata, seed=1, by=[], allocation="all")
        assign(study, ["A"], seed=5)
        with CodingSession.open(study.path, "A", protocol()) as session:
            return [entry.question + session.item_of(entry.assignment).text for entry in session.queue_page()]

    assert texts("a.db", ("m1", "m2")) == texts("b.db", ("zz", "aa"))


def units(items: list[int]) -> list[Ordered]:
    return [Ordered(n, f"q{item}", f"c{n}", f"u{n}") for n, item in enumerate(items)]


def closest(order: list[Ordered]) -> int:
    last: dict[str, int] = {}
    found = 10**9
    for place, unit in enumerate(order):
        if unit.item in last:
            found = min(found, place - last[unit.item])
        last[unit.item] = place
    return found


@given(st.lists(st.integers(0, 40), max_size=120), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_an_order_is_a_permutation_and_reproducible(items: list[int], seed: int) -> None:
    given_units = units(items)
    for kind in ("spread", "item", "file"):
        order = in_order(given_units, kind, str(seed), "A")  # type: ignore[arg-type]
        assert sorted(u.unit_id for u in order) == list(range(len(items)))
        assert order == in_order(list(given_units), kind, str(seed), "A")  # type: ignore[arg-type]


@given(st.integers(12, 40), st.integers(1, 6), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_responses_of_one_item_are_more_than_ten_apart_where_that_is_possible(items: int, models: int, random) -> None:
    """With at least twelve items of equal size it is always possible: one round of all items after the other."""
    given_units = units([item for item in range(items) for _ in range(models)])
    random.shuffle(given_units)
    assert closest(spread(given_units)) > APART


def test_one_large_item_is_spread_as_far_as_it_goes() -> None:
    order = spread(units([0] * 5 + list(range(1, 45))))  # 49 places: 0, 11, 22, 33, 44
    assert closest(order) > APART
    assert closest(spread(units([0] * 3 + [1]))) >= 1  # not possible: everything is still there


def test_a_half_is_rounded_up_as_decimals_are() -> None:
    """.70 of 45 is 31.5, so 32; the product of floats is 31.499999999999996."""
    assert overlap_sizes({"a": 45}, 0.70) == {"a": 32}


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 60), min_size=1), st.integers(1, 100))
def test_overlap_sizes_are_exact(sizes: dict[str, int], percent: int) -> None:
    """Whole numbers, none above its stratum, none without any, and together the rounded share (or one a stratum)."""
    found = overlap_sizes(sizes, percent / 100)
    assert all(1 <= found[name] <= sizes[name] for name in sizes)
    wanted = (2 * percent * sum(sizes.values()) + 100) // 200
    assert (
        sum(found.values()) == wanted
        or sum(found.values()) == sum(max(1, percent * n // 100) for n in sizes.values()) >= wanted
    )
    for name, size in sizes.items():
        assert found[name] == 1 or abs(found[name] - percent * size / 100) < 1


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 5), st.integers(0, 10))
def test_every_group_is_coded_by_one_or_by_all_and_loads_are_even(strata: list[int], coders: int, tenths: int) -> None:
    groups = [Group(f"k{n}", f"s{s}", (n,)) for n, s in enumerate(strata)]
    dealt = shares(groups, coders, tenths / 10, "1")
    assert sorted(share.group.key for share in dealt) == sorted(group.key for group in groups)
    loads = Counter(coder for share in dealt for coder in share.coders)
    assert max(loads.values()) - min(loads[c] for c in range(coders)) <= 1
    for share in dealt:
        assert len(share.coders) == (coders if share.overlap else 1)


@given(st.integers(31, 80), st.data())
def test_repeats_keep_the_rest_of_the_order(size: int, data: st.DataObject) -> None:
    queue = [(n, 1) for n in range(size)]
    again = data.draw(st.lists(st.integers(0, size - 1), unique=True))
    found = with_repeats(queue, again, "1", "A")
    assert [entry for entry in found if entry[1] == 1] == queue
    assert sorted(unit for unit, occurrence in found if occurrence == 2) == sorted(again)


def test_what_a_leaving_coder_has_not_done_goes_to_another_and_the_design_stays(sampled: Study) -> None:
    assign(sampled, ["A", "B"], seed=3, overlap=0.4, repeats=0.3)
    with CodingSession.open(sampled.path, "A", protocol()) as session:
        for _ in range(5):
            item = session.next()
            assert item
            session.save(Act("label", item.assignment, label="WRONG"))
        before = {row.unit: (row.overlap, row.pi2) for row in label_rows(sampled)}
        moved = reassign(sampled, "A", "C")
        assert (moved.moved, moved.stayed) == (16, 0)  # 12 of both, half of the 18 others, less the 5 that are done
        done = {row.unit for row in label_rows(sampled) if row.state == "done"}
        left = {row.unit for row in label_rows(sampled) if row.coder == "A" and row.state == "open"}
        assert left <= done and session.progress.done == 5  # only second codings of what A coded first
    rows = [row for row in label_rows(sampled) if row.coder == "C"]
    assert len(rows) == 16 and all((row.overlap, row.pi2) == before[row.unit] for row in rows)
    (covered,) = coverage(sampled)
    assert (covered.units, covered.meant, covered.labels, len(covered.over), len(covered.doubled)) == (30, 42, 5, 0, 0)
    assert verify(sampled).holds
    with pytest.raises(Refused, match="nothing to do that C could take over"):
        reassign(sampled, "A", "C")
    again = reassign(sampled, "C", "B")  # of the 16, B has those that everybody codes already
    assert again.moved + again.stayed == 16 and again.stayed == sum(bool(row.overlap) for row in rows)
