"""A run over real HTTP against a server that behaves: what is sent, what is stored, what is asked again."""

import hashlib
import json
from collections import Counter

import pytest

from annotate.judges.asking import canonical
from annotate.judges.compare import order_check, self_agreement
from db.errors import AnnotateError
from db.judging import JudgingStore
from tests.judges.conftest import build, rows, run_llm
from tests.judges.openai_server import Do, Server, error, label

pytestmark = pytest.mark.usefixtures("key", "quick")


def labels(path, judge="gpt"):
    with JudgingStore(path) as store:
        return {response: repeats[1] for response, repeats in store.labels(judge).items()}


def test_a_run_stores_every_reply_with_everything_that_came_with_it(tmp_path, serve, key):
    server = serve(lambda seen: Do(label("HEDGE", "says maybe")))
    path = build(tmp_path / "s.db", 5)
    outcome = run_llm(path, server, concurrency=3)
    assert (outcome.calls, outcome.done, outcome.failed, outcome.left, outcome.not_labels) == (5, 5, 0, 0, 0)
    assert outcome.exit_code == 0 and outcome.attempts == 5
    stored = rows(path)
    assert len(stored) == 5
    row = stored[2]
    assert (row["raw"], row["raw_key"], row["rationale"], row["failure"]) == ("HEDGE", "HEDGE", "says maybe", None)
    assert json.loads(row["reply"]) == {"reason": "says maybe", "label": "HEDGE"}
    assert (row["prompt_tokens"], row["completion_tokens"]) == (100, 10)
    assert row["cost"] == pytest.approx((100 * 0.15 + 10 * 0.60) / 1e6)
    request = next(seen for seen in server.seen if seen.marker == str(row["response_id"]))
    assert json.loads(row["extra"])["request_sha256"] == hashlib.sha256(canonical(request.body)).hexdigest()
    assert request.headers["authorization"] == f"Bearer {key}"


def test_the_request_asks_for_the_protocols_labels_by_schema(tmp_path, serve):
    server = serve()
    run_llm(build(tmp_path / "s.db", 1), server)
    body = server.seen[0].body
    wanted = body["response_format"]["json_schema"]
    assert wanted["strict"] is True and wanted["schema"]["properties"]["label"]["enum"] == [
        "ABSTAIN",
        "HEDGE",
        "CORRECT",
        "WRONG",
    ]
    assert body["temperature"] == 0.0 and body["max_tokens"] == 1024 and body["model"] == "gpt-4o-mini"


def test_nothing_about_model_or_condition_is_sent(tmp_path, serve):
    server = serve()
    path = build(tmp_path / "s.db", 2)
    import sqlite3

    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE responses SET model = 'secret-model-name', condition = 'secret-condition'")
    run_llm(path, server)
    assert all(b"secret" not in seen.raw for seen in server.seen)


def test_running_again_asks_for_nothing(tmp_path, serve, monkeypatch):
    server = serve()
    path = build(tmp_path / "s.db", 4)
    run_llm(path, server)
    before = [tuple(row) for row in rows(path)]
    again = run_llm(path, server)
    assert (again.calls, again.stored_before) == (0, 4) and server.count == 4
    monkeypatch.setenv("OPENAI_API_KEY", "")
    run_llm(path, server, yes_send_to=None)  # with nothing to ask, neither a key nor a host is needed
    assert [tuple(row) for row in rows(path)] == before


def test_a_reply_that_is_no_label_is_stored_as_such_and_not_asked_again(tmp_path, serve):
    server = serve(
        lambda seen: Do(
            "I would rather not choose."
            if seen.marker == "2"
            else label("hedge")
            if seen.marker == "3"
            else label("HEDGE")
        )
    )
    path = build(tmp_path / "s.db", 3)
    outcome = run_llm(path, server)
    assert (outcome.done, outcome.not_labels, outcome.failed) == (3, 2, 0)
    assert [row["raw"] for row in rows(path)] == ["HEDGE", "I would rather not choose.", "hedge"]
    assert labels(path) == {1: "HEDGE", 2: "(not a label)", 3: "(not a label)"}
    run_llm(path, server)
    assert len(server.seen) == 3


def test_a_map_says_what_a_raw_label_means(tmp_path, serve):
    server = serve(lambda seen: Do(label("hedge")))
    path = build(tmp_path / "s.db", 2)
    run_llm(path, server, mapping={"hedge": "HEDGE"})
    assert labels(path) == {1: "HEDGE", 2: "HEDGE"}
    assert {row["raw"] for row in rows(path)} == {"hedge"}
    assert len(rows(path, "SELECT * FROM judge_mappings")) == 1


def test_limit_and_the_rest_later(tmp_path, serve):
    server = serve()
    path = build(tmp_path / "s.db", 7)
    first = run_llm(path, server, limit=3)
    assert (first.calls, first.done, first.left) == (3, 3, 4)
    second = run_llm(path, server)
    assert (second.stored_before, second.done, second.left) == (3, 4, 0) and len(server.seen) == 7


def test_what_cannot_be_judged_is_counted_and_not_asked(tmp_path, serve):
    server = serve()
    path = build(
        tmp_path / "s.db",
        6,
        text=lambda i: "  " if i == 2 else f"id{i}",
        failure=lambda i: "timeout" if i == 4 else None,
    )
    outcome = run_llm(path, server)
    assert outcome.not_judged == {"no response text": 1, "technical failure": 1}
    assert outcome.responses == outcome.calls + outcome.stored_before + sum(outcome.not_judged.values()) == 6
    assert sorted(seen.marker for seen in server.seen) == ["1", "3", "5", "6"]


def test_the_protocols_filter_applies(tmp_path, serve):
    """nas: the reason is rated only where the choice is the key."""
    server = serve(
        lambda seen: Do(json.dumps({"missing": [], "additions": ["x"], "distortions": [], "reason": "r", "score": 85}))
    )
    path = build(
        tmp_path / "s.db",
        4,
        "nas",
        choice=lambda i: str(i),
        answer_key="2",
        rationale="because",
        reason=lambda i: f"id{i}",
    )
    outcome = run_llm(path, server, task="alignment")
    assert (outcome.responses, outcome.outside_filter, outcome.done) == (1, 3, 1)
    (row,) = rows(path)
    assert (row["response_id"], row["score"], row["raw"]) == (2, 85.0, "85")
    extra = json.loads(row["extra"])
    assert (extra["missing"], extra["additions"], extra["distortions"], extra["aligned"]) == ([], ["x"], [], True)


def test_repeats_are_asked_once_each_and_give_the_agreement_with_itself(tmp_path, serve):
    """Response 1 says HEDGE, HEDGE, WRONG; response 2 HEDGE three times: 1 of 2 unanimous, 1 + 3 of 6 pairs agree."""
    times = Counter()

    def script(seen):
        times[seen.marker] += 1
        return Do(label("WRONG" if seen.marker == "1" and times["1"] == 3 else "HEDGE"))

    server = serve(script)
    path = build(tmp_path / "s.db", 2)
    run_llm(path, server, repeats=2)
    outcome = run_llm(path, server, repeats=3)
    assert (outcome.stored_before, outcome.done) == (4, 2) and len(server.seen) == 6
    with JudgingStore(path) as store:
        again = self_agreement(store, "gpt")
    assert (again.repeats, again.unanimous.k, again.unanimous.n, again.pairs.k, again.pairs.n) == (3, 1, 2, 4, 6)


def test_swapping_a_pair_shows_a_judge_that_likes_the_first(tmp_path, serve):
    """Item 3 is judged by content (the longer text), the others by place."""

    def script(seen):
        first, second = (seen.user.index(text) for text in ("short id", "much longer id"))
        by_content = "FIRST" if second < first else "SECOND"
        return Do(label(by_content if "id3 " in seen.user else "FIRST"))

    server = serve(script)
    path = build(
        tmp_path / "s.db", 3, "preference", text=lambda i: f"short id{i} ", text_b=lambda i: f"much longer id{i} "
    )
    run_llm(path, server)
    run_llm(path, server, swapped=True)
    assert labels(path) == {1: "FIRST", 2: "FIRST", 3: "SECOND"}
    assert labels(path, "gpt (swapped)") == {1: "SECOND", 2: "SECOND", 3: "SECOND"}
    with JudgingStore(path) as store:
        check = order_check(store, "gpt")
    assert (check.same.k, check.same.n, check.favours_first, check.favours_second) == (1, 3, 2, 0)
    assert {row["raw"] for row in rows(path) if row["judge_id"] == 2} == {"FIRST"}  # raw as the judge said it


def test_swapping_labels_lists_them_the_other_way_round(tmp_path, serve):
    """A judge that always takes what is listed first."""
    server = serve(
        lambda seen: Do(label(seen.body["response_format"]["json_schema"]["schema"]["properties"]["label"]["enum"][0]))
    )
    path = build(tmp_path / "s.db", 2)
    run_llm(path, server)
    run_llm(path, server, swapped=True)
    with JudgingStore(path) as store:
        check = order_check(store, "gpt")
    assert check.same.k == 0 and dict(check.table) == {("ABSTAIN", "WRONG"): 2}


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"task": "grade"},
        {"temperature": 0.7},
        {"output": "text"},
        {"base_url": "http://127.0.0.1:1/v1", "yes_send_to": "127.0.0.1:1"},
    ],
)
def test_a_name_stands_for_one_way_of_asking(tmp_path, serve, change):
    server = serve()
    path = build(tmp_path / "s.db", 2)
    run_llm(path, server, limit=1)
    with pytest.raises(AnnotateError) as refused:
        run_llm(path, server, **change)
    assert "gpt" in refused.value.message and "--judge" in refused.value.hint
    assert len(server.seen) == 1 and len(rows(path)) == 1


def test_nothing_is_sent_before_somebody_agreed_to_the_host(tmp_path, serve, capfd):
    server = serve()
    path = build(tmp_path / "s.db", 1)
    with pytest.raises(AnnotateError, match="Nothing was sent"):
        run_llm(path, server, yes_send_to=None)
    with pytest.raises(AnnotateError, match="would go to"):
        run_llm(path, server, yes_send_to="api.openai.com")
    assert server.count == 0 and rows(path, "SELECT * FROM judges") == []
    run_llm(path, server)
    assert f"1 calls to {server.host}." in capfd.readouterr().err
    outcome = run_llm(build(tmp_path / "t.db", 1), server)
    assert outcome.done == 1
    assert run_llm(path, server, yes_send_to=None, name="second").done == 1  # agreed to once a study and host


def test_a_person_at_a_terminal_is_asked(tmp_path, serve, monkeypatch):
    asked = []
    monkeypatch.setattr("annotate.judges.hosts._asked", lambda host: asked.append(host) or len(asked) > 1)
    server = serve()
    path = build(tmp_path / "s.db", 2)
    with pytest.raises(AnnotateError, match="Nothing was sent"):
        run_llm(path, server, yes_send_to=None, limit=1)
    assert run_llm(path, server, yes_send_to=None, limit=1).done == 1
    assert run_llm(path, server, yes_send_to=None).done == 1
    assert asked == [server.host] * 2


def test_a_redirect_is_not_followed(tmp_path, serve):
    elsewhere = serve()
    server = serve(lambda seen: Do("{}", status=307, headers={"location": f"{elsewhere.url}/chat/completions"}))
    path = build(tmp_path / "s.db", 1)
    outcome = run_llm(path, server)
    assert "give that as --base-url" in outcome.stopped and elsewhere.count == 0 and rows(path) == []


def test_an_endpoint_without_schemas_temperature_or_that_token_field_is_found_out(tmp_path, serve):
    def script(seen):
        if "max_tokens" in seen.body:
            return error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        if "temperature" in seen.body:
            return error(400, "Unsupported value: 'temperature' does not support 0 with this model.")
        if seen.body.get("response_format", {}).get("type") == "json_schema":
            return error(422, "response_format.type json_schema is not supported")
        return Do(label("HEDGE"))

    server = serve(script)
    path = build(tmp_path / "s.db", 4)
    outcome = run_llm(path, server, concurrency=4)
    assert outcome.done == 4 and outcome.failed == 0
    assert len(server.seen) == 3 + 4  # three refusals, all for the first response, while nothing else was under way
    run_llm(path, server, repeats=2)
    assert len(server.seen) == 7 + 4  # what was learned is stored
    body = server.seen[-1].body
    assert body["response_format"] == {"type": "json_object"} and "max_completion_tokens" in body


def test_plain_text_where_there_is_no_structure(tmp_path, serve):
    server = serve(
        lambda seen: (
            error(400, "response_format is not supported")
            if "response_format" in seen.body
            else Do("It says maybe.\nLABEL: HEDGE")
        )
    )
    path = build(tmp_path / "s.db", 2)
    assert run_llm(path, server).done == 2
    assert labels(path) == {1: "HEDGE", 2: "HEDGE"} and "LABEL: …" in server.seen[-1].prompt


def test_max_cost_stops_before_it_is_passed_and_counts_earlier_runs(tmp_path, serve):
    """Each call costs $0.000021 and could cost more, so that the limit stops the run a few calls early, never late."""
    server = serve()
    path = build(tmp_path / "s.db", 300)
    limit = 0.004
    first = run_llm(path, server, concurrency=4, max_cost=limit)
    assert "--max-cost" in first.stopped and first.exit_code == 1
    assert 0 < first.done < 300 and first.cost <= limit
    second = run_llm(path, server, concurrency=4, max_cost=limit)
    with JudgingStore(path) as store:
        assert store.spent(1) <= limit
    assert second.done <= 1
    assert run_llm(path, server, max_cost=1.0).left == 0


def test_max_cost_without_a_price_is_refused(tmp_path, serve):
    with pytest.raises(AnnotateError, match="needs a price"):
        run_llm(build(tmp_path / "s.db", 1), serve(), model="my-model", max_cost=1.0)


def test_two_runs_of_one_judge_at_once_are_refused(tmp_path, serve):
    from annotate.judges.llm import only_run

    path = build(tmp_path / "s.db", 2)
    server = serve()
    run_llm(path, server, limit=1)
    with (
        JudgingStore(path) as store,
        only_run(path.resolve(), store.judge("gpt")),
        pytest.raises(AnnotateError, match="another process"),
    ):
        run_llm(path, server)


def test_the_number_of_calls_under_way_is_bounded(tmp_path, serve):
    server = serve(lambda seen: Do(label("HEDGE"), delay=0.03))
    run_llm(build(tmp_path / "s.db", 30), server, concurrency=5)
    assert 2 <= server.most_under_way <= 5


def test_several_judges_stand_side_by_side(tmp_path, serve):
    path = build(tmp_path / "s.db", 4)
    run_llm(path, serve(), name="one")
    run_llm(path, serve(lambda seen: Do(label("WRONG" if seen.marker == "1" else "HEDGE"))), name="two")
    from annotate.judges.compare import compare_judges

    with JudgingStore(path) as store:
        (pair,) = compare_judges(store)
        counts = store.counts()
    assert (pair.first, pair.second, pair.agree.k, pair.agree.n) == ("one", "two", 3, 4)
    assert [(c.name, c.labels, c.not_labels, c.failed, c.rows) for c in counts] == [
        ("one", 4, 0, 0, 4),
        ("two", 4, 0, 0, 4),
    ]


def test_a_local_server_needs_no_key(tmp_path, serve, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    assert run_llm(build(tmp_path / "s.db", 1), serve()).done == 1


def test_server_class_is_shut_down_cleanly():
    with Server() as server:
        assert server.port > 0
