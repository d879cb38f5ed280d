"""The Batch API over real HTTP: submit, poll, collect, and go on after being cut off at each step."""

import json

import pytest

from annotate.judges.batch import Batches, BatchRun
from annotate.judges.batch_api import BatchApi
from db.judging import JudgingStore
from tests.judges.conftest import build, rows, run_llm
from tests.judges.openai_server import batch_line, label

pytestmark = pytest.mark.usefixtures("key", "quick")
NOW = BatchRun(size=100, poll=0.02)


def submitted(server):
    return [
        json.loads(line)["custom_id"]
        for file in server.files
        if "output" not in file
        for line in server.files[file].splitlines()
    ]


def test_all_results_are_collected(tmp_path, serve):
    server = serve()
    path = build(tmp_path / "s.db", 7)
    outcome = run_llm(path, server, batch=NOW)
    assert (outcome.done, outcome.failed, outcome.left) == (7, 0, 0)
    assert len(server.seen) == 1  # the first response by a call, to learn how the endpoint wants to be asked
    assert submitted(server) == [f"r{n}-k1" for n in range(2, 8)]
    assert {row["raw"] for row in rows(path)} == {"HEDGE"} and len(rows(path)) == 7
    assert outcome.cost == pytest.approx(
        (110 * 0 + 6 * 0.5 + 1) * (100 * 0.15 + 10 * 0.60) / 1e6
    )  # half price by batch
    again = run_llm(path, server, batch=NOW)
    assert again.calls == 0 and len(server.batches) == 1


def test_no_wait_leaves_it_under_way_and_the_next_run_collects(tmp_path, serve):
    server = serve()
    path = build(tmp_path / "s.db", 5)
    first = run_llm(path, server, batch=BatchRun(size=100, wait=False))
    assert first.done == 1 and "under way" in first.notes[0]
    waiting = [row for row in rows(path) if row["failure"] == "waits for a batch"]
    assert len(waiting) == 4
    assert run_llm(path, server, batch=None).calls == 0  # nobody asks about them meanwhile
    second = run_llm(path, server, batch=BatchRun(size=100, wait=False))
    assert (second.done, second.calls) == (4, 0) and len(server.batches) == 1
    assert [row["failure"] for row in rows(path)] == [None] * 5


def test_work_is_split_into_batches(tmp_path, serve):
    server = serve()
    path = build(tmp_path / "s.db", 12)
    outcome = run_llm(path, server, batch=BatchRun(size=4, poll=0.02), repeats=2)
    assert outcome.done == 24 and len(server.batches) == 6  # 23 requests by fours
    assert sorted(submitted(server)) == sorted([f"r{n}-k{k}" for n in range(1, 13) for k in (1, 2) if (n, k) != (1, 1)])


def test_every_kind_of_result_ends_as_what_it_is(tmp_path, serve):
    """2: no label. 3: refused. 4: its own error. 5: HTTP 400. 6: missing. 7: another's id. 8: broken. 9: a label."""

    def line(request, number):
        result = batch_line(request, number)
        name = request["custom_id"]
        body = result["response"]["body"]
        if name == "r2-k1":
            body["choices"][0]["message"]["content"] = "cannot say"
        if name == "r3-k1":
            body["choices"][0]["message"]["refusal"] = "no"
        if name == "r4-k1":
            return {**result, "response": None, "error": {"code": "batch_expired", "message": "too late"}}
        if name == "r5-k1":
            result["response"] = {"status_code": 400, "body": {"error": {"message": "too long"}}}
        if name == "r6-k1":
            return None
        if name == "r7-k1":
            result["custom_id"] = "r99-k1"
        if name == "r8-k1":
            result["response"]["body"] = {"choices": []}
        return result

    server = serve()
    server.batch_line = line
    path = build(tmp_path / "s.db", 9)
    outcome = run_llm(path, server, batch=NOW)
    assert (outcome.done, outcome.not_labels, outcome.failed) == (3, 1, 6)
    found = {row["response_id"]: row for row in rows(path)}
    assert found[2]["raw"] == "cannot say" and found[9]["raw"] == "HEDGE"
    said = {n: found[n]["failure"].split(":")[0] for n in (3, 4, 5, 6, 7, 8)}
    assert said == {
        3: "refused",
        4: "batch",
        5: "http 400",
        6: "batch completed",
        7: "batch completed",
        8: "wrong shape",
    }
    server.batch_line = batch_line
    again = run_llm(path, server, batch=NOW)
    assert again.done == 4  # 4, 6, 7 and 8 are asked again; the refusal and the 400 are settled
    assert {n: rows(path)[n - 1]["raw"] for n in (4, 6, 7, 8)} == dict.fromkeys((4, 6, 7, 8), "HEDGE")


@pytest.mark.parametrize("cut", ["before upload", "before create", "after create", "before collect"])
def test_a_run_that_is_cut_off_submits_nothing_twice(tmp_path, serve, monkeypatch, cut):
    server = serve()
    path = build(tmp_path / "s.db", 6)

    class Cut(BaseException):
        pass

    async def die(*_, **__):
        raise Cut

    async def die_after(self, file, tag):
        await create(self, file, tag)
        raise Cut

    create = BatchApi.create
    with monkeypatch.context() as patch:
        where = {"before upload": (BatchApi, "upload", die), "before create": (BatchApi, "create", die)}
        where |= {"after create": (BatchApi, "create", die_after), "before collect": (Batches, "_collect", die)}
        patch.setattr(*where[cut])
        with pytest.raises(Cut):
            run_llm(path, server, batch=NOW)
    outcome = run_llm(path, server, batch=NOW)
    assert outcome.left == 0 and len(server.batches) == 1
    used = {batch["input_file_id"] for batch in server.batches.values()}
    asked = [json.loads(line)["custom_id"] for file in used for line in server.files[file].splitlines()]
    assert sorted(asked) == [f"r{n}-k1" for n in range(2, 7)]
    assert [row["raw"] for row in rows(path)] == ["HEDGE"] * 6


def test_a_batch_that_may_cost_too_much_is_not_submitted(tmp_path, serve):
    server = serve()
    path = build(tmp_path / "s.db", 6)
    outcome = run_llm(path, server, batch=NOW, max_cost=0.003)
    assert "--max-cost" in outcome.stopped and server.batches == {} and outcome.done == 1
    with JudgingStore(path) as store:
        assert store.spent(1) == pytest.approx((100 * 0.15 + 10 * 0.60) / 1e6)


def test_a_reply_in_a_batch_that_says_wrong_is_wrong(tmp_path, serve):
    server = serve()

    def line(request, number):
        result = batch_line(request, number)
        result["response"]["body"]["choices"][0]["message"]["content"] = label("WRONG")
        return result

    server.batch_line = line
    path = build(tmp_path / "s.db", 3)
    run_llm(path, server, batch=NOW)
    assert [row["raw"] for row in rows(path)] == ["HEDGE", "WRONG", "WRONG"]
