"""Runs by the API: create, change, copy, delete, read."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from selection import engine
from selection.models import Endpoint, ModelServer, Pool, QuestionSet, Run
from selection.runs import lifecycle
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def wanted():
    """Return the required settings of a run."""
    pool, questions = make_pool(6, language=["English", "German"]), make_questions(30)
    return {"name": "Best 2", "pool": pool.pk, "question_set": questions.pk, "k": 2}


EVERYTHING = {
    "algorithm": "certified",
    "epsilon": 0.2,
    "delta": 0.1,
    "budget": 500,
    "price": "0.05",
    "currency": "USD",
    "options": {"accuracy": "on this question set"},
    "quotas": {"attribute": "language", "limits": {"English": {"least": 1, "most": 1}}},
    "slots": 12,
    "slots_per_worker": 2,
    "minutes": 30,
    "hours_to_come": 24,
    "recorded_only": False,
    "enrolling": False,
    "seed": 7,
    "one_kind_each": False,
}


def test_a_run_is_made_with_the_form_s_usual_values(manager, wanted):
    made = manager.post("runs", wanted)
    assert made.status_code == 201
    run = Run.objects.get()
    assert (run.status, run.algorithm, run.epsilon, run.hours_to_come) == (
        "draft", "credible", 0.1, 48,
    )  # fmt: skip
    assert manager.get(f"runs/{run.pk}").json() == made.json()
    assert [event.who for event in run.events.all()] == ["token manager"]


def test_a_list_takes_as_many_queries_for_three_runs_as_for_one(manager):
    manager.get("runs")  # the first request also records the use of its token
    counts = []
    for names in (["one"], ["two", "three"]):
        for name in names:
            make_run(name=name)
        with CaptureQueriesContext(connection) as queries:
            listed = manager.get("runs").json()
        counts.append(len(queries))
    assert len({run["pool"] for run in listed}) == 3
    assert counts[0] == counts[1]


def test_settings_sent_are_returned_and_exported(manager, wanted):
    shown = manager.post("runs", wanted | EVERYTHING).json()
    assert shown["quotas"] == {"attribute": "language", "limits": {"English": [1, 1]}}
    for name in EVERYTHING.keys() - {"quotas", "price"}:
        assert shown[name] == EVERYTHING[name], name
    run = Run.objects.get()
    assert manager.post(f"runs/{run.pk}/transitions/start").json()["status"] == "running"
    run.refresh_from_db()
    play(run, crowd(3, good=2))
    document = manager.get(f"runs/{run.pk}/selection").json()
    assert document["price"] == 0.05
    assert document["budget"] == 500
    assert {row["worker"] for row in document["workers"]} == {"w0", "w1"}
    assert {row["group"] for row in document["workers"]} == {"English", "German"}
    assert "expected" not in document["workers"][0]


def test_a_run_spends_by_price(manager, wanted):
    prices = {"by_price": True, "algorithm": "universal", "price": "0.05"}
    made = manager.post("runs", wanted | prices)
    assert made.status_code == 201
    assert made.json()["by_price"] is True
    assert Run.objects.get().by_price


def test_models_alone_are_tested_on_this_question_set(manager, wanted):
    pool = Pool.objects.get(pk=wanted["pool"])
    people = manager.post("runs", wanted | {"name": "people"}).json()
    assert (people["algorithm"], people["options"]) == ("credible", {})
    server = ModelServer.objects.create(name="here", url="https://example.org/v1")
    for worker in pool.workers.all():
        Endpoint.objects.create(worker=worker, server=server, model="m")
    this_set = {"accuracy": "on this question set"}
    models = manager.post("runs", wanted | {"name": "models"}).json()
    assert (models["algorithm"], models["options"]) == ("universal", this_set)
    named = manager.post("runs", wanted | {"name": "named", "algorithm": "certified"}).json()
    assert (named["algorithm"], named["options"]) == ("certified", this_set)
    other = {"algorithm": "certified", "options": {"accuracy": "on questions like these"}}
    assert manager.post("runs", wanted | {"name": "other"} | other).json()["options"] == {}
    plain = manager.post("runs", wanted | {"name": "plain", "algorithm": "credible"}).json()
    assert (plain["algorithm"], plain["options"]) == ("credible", {})
    QuestionSet.objects.update(most_workers=3)
    limited = manager.post("runs", wanted | {"name": "limited"}).json()
    assert limited["algorithm"] == "credible"


def test_further_question_sets_are_tested_on_the_same_budget(manager, wanted):
    second = make_questions(30)
    skills = {"skills": [{"question_set": second.pk, "k": 1}], "one_kind_each": True}
    shown = manager.post("runs", wanted | skills | {"algorithm": "clucb-pac"}).json()
    assert [skill["k"] for skill in shown["skills"]] == [2, 1]
    assert shown["one_kind_each"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"k": 6}, "K must be at least 1 and less than the number of workers (6)"),
        ({"k": 0}, "must be 1 or more"),
        ({"epsilon": 1}, "less than 1"),
        ({"algorithm": "best"}, "There is no algorithm “best”"),
        ({"algorithm": "same-questions"}, "people could share the answers"),
        ({"algorithm": "lucb", "options": {"eta": 1}}, "has no option eta; it has none."),
        ({"algorithm": "sar"}, "budget"),
        ({"algorithm": "certified", "options": {"accuracy": "wrong"}}, "must be"),
        ({"minutes": 0}, "must be 1 or more"),
        ({"by_price": True}, "does not spend by price; Universal can."),
        ({"by_price": True, "algorithm": "universal"}, "“w0” has no price, or the price 0."),
        ({"budgte": 5}, "budgte"),
        ({"name": ""}, "name"),
        (
            {"quotas": {"attribute": "language", "limits": {"x": {"least": 1}}}},
            "cannot keep quotas",
        ),
    ],
)
def test_impossible_run_is_refused_in_one_line(manager, wanted, fields, words):
    body = wanted | {"algorithm": "lucb"} | fields
    reply = manager.post("runs", body)
    assert reply.status_code in (422, 404)
    assert words in reply.json()["error"]
    assert not Run.objects.exists()


def test_a_draft_gets_all_its_settings_anew_and_a_started_run_does_not(manager, wanted):
    run = manager.post("runs", wanted | EVERYTHING).json()["id"]
    second = make_questions(9)
    anew = wanted | {"name": "Best 1", "k": 1, "algorithm": "clucb-pac", "seed": 3}
    skills = {"skills": [{"question_set": second.pk, "k": 1}]}
    shown = manager.put(f"runs/{run}", anew | skills).json()
    assert (shown["name"], shown["k"], shown["budget"], shown["quotas"]) == (
        "Best 1",
        1,
        None,
        None,
    )
    assert [skill["k"] for skill in shown["skills"]] == [1, 1]
    assert [skill["k"] for skill in manager.put(f"runs/{run}", anew).json()["skills"]] == [1]
    manager.post(f"runs/{run}/transitions/start")
    late = manager.put(f"runs/{run}", wanted)
    assert late.status_code == 409
    assert "is running: copy it" in late.json()["error"]


def test_pools_and_sets_of_others_are_not_there_to_be_chosen(manager, wanted):
    for name in ("pool", "question_set"):
        assert manager.post("runs", wanted | {name: 10**9}).status_code == 404


def test_a_run_is_copied_into_a_draft(manager):
    run = make_run(budget=300)
    copy = manager.post(f"runs/{run.pk}/copy", {"same_seed": True})
    assert copy.status_code == 201
    made = copy.json()
    assert (made["name"], made["status"], made["seed"]) == (f"{run.name}, copy", "draft", run.seed)
    other = manager.post(f"runs/{run.pk}/copy", {"name": "Another"}).json()
    assert (other["name"], other["budget"]) == ("Another", 300)


def test_a_run_is_deleted_unless_it_goes_on(manager):
    run = make_run()
    assert manager.delete(f"runs/{run.pk}").status_code == 409
    lifecycle.stop_run(run)
    assert manager.delete(f"runs/{run.pk}").status_code == 204
    assert not Run.objects.exists()


def test_runs_are_listed_the_latest_first(manager):
    first, second = make_run(), make_run(start=False)
    listed = manager.get("runs").json()
    assert [(run["id"], run["status"]) for run in listed] == [
        (second.pk, "draft"),
        (first.pk, "running"),
    ]
    for query in ({"status": "running"}, {"name": first.name}, {"pool": first.pool_id}):
        assert [run["id"] for run in manager.get("runs", **query).json()] == [first.pk]


# -- results


@pytest.fixture
def answered():
    run = make_run(questions=20)
    for _ in range(3):
        engine.advance(run.pk)
        answer_all(run, lambda slip: "yes" if slip.candidate.worker.key < "w3" else "no")
    engine.advance(run.pk)
    run.refresh_from_db()
    return run


def test_answers_are_read_by_worker_question_and_outcome(manager, answered):
    at = f"runs/{answered.pk}/answers"
    everything = manager.get(at, limit=1000).json()
    assert len(everything) == answered.answers.count() > 12
    assert {row["outcome"] for row in everything} == {"right", "not right"}
    mine = manager.get(at, worker="w1").json()
    assert {(row["worker"], row["response"]) for row in mine} == {("w1", "yes")}
    assert [row["position"] for row in mine] == sorted(row["position"] for row in mine)
    one = manager.get(at, question=mine[0]["question"], worker="w1").json()
    assert one == mine[:1]
    wrong = manager.get(at, outcome="not right", limit=1000).json()
    assert {row["worker"] for row in wrong} == {"w3", "w4", "w5"}
    assert manager.get(at, outcome="question retired").json() == []


def test_steps_and_events_are_read_page_by_page(manager, answered):
    steps = manager.get(f"runs/{answered.pk}/steps", limit=2)
    assert [step["number"] for step in steps.json()] == [1, 2]
    assert "Link" in steps.headers
    lifecycle.pause_run(answered, "requester")
    events = manager.get(f"runs/{answered.pk}/events").json()
    assert [(event["kind"], event["actor"]) for event in events] == [
        ("pause", "requester"),
        ("start", ""),
    ]


def test_standings_are_paged_in_their_order_and_filtered(manager, answered):
    at = f"runs/{answered.pk}/standings"
    whole = manager.get(at).json()
    assert [line["worker"] for line in whole[:2] if line["selected"]] == ["w0", "w1"] or whole
    first = manager.get(at, limit=4)
    rest = manager.client.get(first.headers["Link"].split(">")[0][1:])
    assert first.json() + rest.json() == whole
    assert "Link" not in rest.headers
    assert [line["worker"] for line in manager.get(at, worker="w2").json()] == ["w2"]
    chosen = manager.get(at, selected=True).json()
    assert chosen == [line for line in whole if line["selected"]]
    assert len(chosen) == 2


# -- links


def test_links_are_replaced_and_revoked(manager):
    run = make_run(enrolling=True)
    before = {row["worker"]: row["link"] for row in manager.get(f"runs/{run.pk}/workers").json()}
    assert manager.client.get(before["w1"].split(":8000")[1]).status_code == 200
    assert manager.delete(f"runs/{run.pk}/workers/w1/link").status_code == 204
    assert manager.client.get(before["w1"].split(":8000")[1]).status_code == 404
    join = manager.get(f"runs/{run.pk}").json()["join_link"]
    replaced = manager.post(f"runs/{run.pk}/links", {"reason": "Sent to the wrong list."}).json()
    assert replaced["replaced"] == 6
    assert replaced["join_link"] != join
    after = {row["worker"]: row["link"] for row in manager.get(f"runs/{run.pk}/workers").json()}
    assert all(before[key] != after[key] for key in before)


def test_a_token_that_reads_sees_no_link_to_join_by(program):
    run = make_run(enrolling=True)
    assert program("read").get(f"runs/{run.pk}").json()["join_link"] == ""


def test_workers_of_a_run_are_paged_by_their_keys(manager):
    run = make_run()
    first = manager.get(f"runs/{run.pk}/workers", limit=4)
    rest = manager.client.get(first.headers["Link"].split(">")[0][1:]).json()
    assert [row["worker"] for row in first.json() + rest] == [f"w{i}" for i in range(6)]
    assert len(manager.get(f"runs/{run.pk}/workers").json()) == 6
    found = manager.get(f"runs/{run.pk}/workers", search="w5").json()
    assert [row["worker"] for row in found] == ["w5"]


def test_the_others_of_the_pool_join_by_a_move(manager):
    run = make_run(n=4, enrolling=True)
    manager.put(f"pools/{run.pool_id}/workers", {"workers": [{"worker": "late"}]})
    assert manager.post(f"runs/{run.pk}/transitions/join-others").status_code == 200
    assert run.candidates.filter(worker__key="late").exists()
