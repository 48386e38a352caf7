"""Runs that select all workers at the pass mark, up to K, to the exported result."""

import pytest
from django.test import Client

from packages.topk.tests.parameters import mostly_slow
from selection import reports
from selection.admin.page import object_url
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.forecast import Plan
from selection.models import Delivery, Run, Webhook
from selection.reports.dump import dump_run
from selection.reports.explain import explain_candidate
from selection.runs.roster import roster_opening
from selection.runs.settings import drafts
from tests import worlds
from tests.pages import admin_url
from tests.selection.api.conftest import Program
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db

RULES = [name for name, kind in ALGORITHMS.items() if kind.takes_mark]


def play(good: int, rule: str = "good-e-bh", **fields) -> Run:
    """Play a run among six workers: so many are always right, the others rarely."""
    usual = {"n": 6, "k": 4, "questions": 200, "slots": 120, "slots_per_worker": 20}
    run = worlds.make_run(**(usual | {"pass_mark": 0.8, "algorithm": rule} | fields))
    return worlds.play(run, worlds.crowd(2, good, 1.0, 0.3))


@pytest.mark.parametrize("rule", mostly_slow(RULES, ("good-e-bh", "mark-all")))
def test_fewer_than_k_are_selected_if_fewer_are_good(rule: str) -> None:
    run = play(2, rule)
    assert run.ending == Run.Ending.GUARANTEE
    assert set(run.candidates.filter(verdict=1).values_list("worker__key", flat=True)) == {
        "w0",
        "w1",
    }
    document = reports.export_run(run)
    assert [row["worker"] for row in document["workers"]] == ["w0", "w1"]
    assert "50%, the pass mark of 80% less ε" in document["guarantee"]
    assert (document["verdict"], document["mark_guarantee"]) == ("kept", "")
    assert verify_dump(dump_run(run)).same


@pytest.mark.parametrize("rule", mostly_slow(RULES, ("good-e-bh", "mark-all")))
def test_webhook_and_page_name_a_found_worker_before_the_end(rule: str, requester: Client) -> None:
    Webhook.objects.create(url="https://example.org/", events=["worker.accepted", "run.ended"])
    usual = {"n": 6, "k": 3, "questions": 200, "slots": 12, "slots_per_worker": 2}
    run = worlds.make_run(**usual, pass_mark=0.8, algorithm=rule)
    crowd = worlds.crowd(2, 2, 1.0, 0.5)
    found = run.candidates.filter(decided_in__isnull=False, verdict=0)
    for _ in range(200):
        if not found.exists():
            worlds.play(run, crowd, most=1)
    row = found[0]
    assert row.decided_why.endswith("shown to reach the pass mark of 80% within ε")
    card = requester.get(admin_url("run_worker", run.pk, row.pk)).text
    assert f"Found in step {row.decided_in} of" in card
    assert any(part.startswith("Found in step") for part in explain_candidate(row).settled)
    run = worlds.play(run, crowd)
    kinds = list(Delivery.objects.order_by("pk").values_list("kind", flat=True))
    assert sorted(kinds) == ["run.ended", "worker.accepted", "worker.accepted"]
    assert kinds[0] == "worker.accepted"
    row.refresh_from_db()
    assert (row.verdict, row.decided_in < run.steps) == (1, True)


def test_run_ends_as_soon_as_k_are_found() -> None:
    run = play(6, k=2)
    assert run.candidates.filter(verdict=1).count() == 2
    assert run.candidates.filter(verdict=-1).count() == 4


def test_early_end_keeps_the_workers_found_and_their_guarantee() -> None:
    run = play(2, "mark-all", slots=12, slots_per_worker=2, budget=24)
    assert run.ending == Run.Ending.BUDGET
    document = reports.export_run(run)
    assert "The run ended before all workers were judged." in document["guarantee"]
    assert verify_dump(dump_run(run)).same


def test_workers_may_join_until_enough_have_passed() -> None:
    run = worlds.make_run(
        n=3, k=2, questions=200, slots=120, slots_per_worker=20, pass_mark=0.8,
        algorithm="good-e-bh", enrolling=True,
    )  # fmt: skip
    worlds.play(run, worlds.crowd(2, 2, 1.0, 0.3), most=8)
    roster_opening.close_roster(run)
    run.refresh_from_db()
    worlds.play(run, worlds.crowd(2, 2, 1.0, 0.3))
    assert (run.ending, run.certified) == (Run.Ending.GUARANTEE, True)
    assert run.candidates.filter(verdict=1).count() == 2


def test_mark_on_the_question_set_is_about_its_questions() -> None:
    run = play(2, questions=40, options={"accuracy": "on this question set"}, epsilon=0.1)
    assert "accuracy on this set of 40 questions" in reports.export_run(run)["guarantee"]


def test_page_and_api_show_the_guarantee(requester: Client, token: str) -> None:
    run = play(2)
    assert "On average, at most" in requester.get(object_url(run)).text
    reply = Program(token).get(f"runs/{run.pk}/selection").json()
    assert (reply["pass_mark"], len(reply["workers"])) == (0.8, 2)


def test_rule_without_a_mark_is_refused() -> None:
    pool, gold = worlds.make_pool(3), worlds.make_questions(5)
    given = {"name": "Good", "pool": pool, "question_set": gold, "k": 1, "algorithm": "mark-all"}
    with pytest.raises(Refused, match="Mark all selects all workers at a pass mark"):
        drafts.create_draft(given)
    with pytest.raises(Refused, match="give a pass mark above ε and below 1"):
        Plan(workers=9, k=2, epsilon=0.1, delta=0.1, questions=50, goal="mark", mark=0.1)
