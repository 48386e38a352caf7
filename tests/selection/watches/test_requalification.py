"""A worker with an alarm is tested again by further gold: they pass, or stay paused."""

import pytest
from django.test import Client

from selection.errors import Conflict
from selection.models import AuditEntry, Delivery, Watch, Webhook
from selection.watches import alarms, begin, gold, requalification, steps
from tests.pages import admin_url, text_of
from topk.drift import MarkTest

from .worlds import answers, make_watch, state_of

pytestmark = pytest.mark.django_db


def begin_test(**settings: object) -> Watch:
    """Return a watch of which w0 fell, and is tested again."""
    watch = make_watch(**settings)
    gold.record_gold(watch, answers("w0", "n" * 20))
    steps.advance_watch(watch.pk)
    alarms.requalify_worker(state_of(watch), "ada", "trained")
    return watch


def answer(watch: Watch, right: str, first: int = 20) -> str:
    gold.record_gold(watch, answers("w0", right, first))
    for _ in range(3):
        steps.advance_watch(watch.pk)
    assert not watch.workers.filter(recount=True).exists()
    return state_of(watch).state


@pytest.mark.parametrize(("size", "right"), [(1, "y"), (50, "y"), (7, "yyyyyyyyyn")])
def test_worker_who_reaches_the_level_passes_and_begins_anew(size, right):
    Webhook.objects.create(url="https://example.org/", events=["watch.tested", "watch.paused"])
    watch = begin_test()
    given = (right * 50)[:50]
    for first in range(0, 50, size):
        state = answer(watch, given[first : first + size], 20 + first)
    row = state_of(watch)
    assert state in ("fine", "falling")
    assert (row.tried, row.alarmed) == (0, None)
    assert row.why.startswith("passed the test: ")
    counted = int(row.why.split(" of ")[1].split()[0])
    assert (row.answers, row.met) == (50 - counted, 70)
    assert row.threshold is not None
    kinds = list(Delivery.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["watch.tested", "watch.tested", "watch.paused"]
    assert AuditEntry.objects.filter(kind="passed the test", who="watch").count() == 1


def test_worker_who_stays_below_the_level_fails_and_has_no_further_try():
    watch = begin_test(tries=2)
    assert answer(watch, "n" * 30) == "paused"
    row = state_of(watch)
    assert row.why.startswith("did not pass the test: 0 of ")
    assert answer(watch, "n" * 20, 50) == "paused"
    alarms.requalify_worker(state_of(watch), "ada")
    assert answer(watch, "n" * 30, 80) == "paused"
    with pytest.raises(Conflict, match="has had 2 tests"):
        alarms.requalify_worker(state_of(watch), "ada")


def test_only_answers_asked_after_its_beginning_count():
    watch = begin_test()
    early = [gold.GivenGold("w0", f"q{i}", "yes", state_of(watch).since) for i in range(40, 90)]
    gold.record_gold(watch, early)
    steps.advance_watch(watch.pk)
    assert (state_of(watch).state, state_of(watch).answers) == ("testing", 0)


def test_tested_worker_raises_no_alarm_and_keeps_the_test_if_settings_change():
    watch = begin_test(tries=3)
    assert answer(watch, "nynyyy") == "testing"
    assert (state_of(watch).answers, state_of(watch).evidence) == (6, 0)
    begin.change_watch(watch, level=0.6)
    assert (state_of(watch).state, state_of(watch).level) == ("testing", 0.6)
    alarms.pause_worker(state_of(watch), "ada")
    assert state_of(watch).state == "paused"


def test_undecided_test_ends_at_its_most_answers(monkeypatch):
    monkeypatch.setattr(requalification, "MOST", 10)
    watch = begin_test()
    assert answer(watch, "yyynyyynyy") == "paused"
    assert state_of(watch).why == "did not pass the test: 8 of 10 gold answers right"


def test_worker_without_alarm_is_not_tested():
    watch = make_watch()
    steps.advance_watch(watch.pk)
    with pytest.raises(Conflict, match="nothing to test"):
        alarms.requalify_worker(state_of(watch), "ada")


def test_button_and_api_begin_a_test(requester, token):
    watch = make_watch(tries=2)
    gold.record_gold(watch, answers("w0", "n" * 20))
    steps.advance_watch(watch.pk)
    page = admin_url("watch_page", watch.pk)
    before = text_of(requester.get(page))
    fewest = requalification.fewest_answers(watch, state_of(watch))
    assert f"This is try 1 of 2. It costs at least {fewest} gold answers, at most 200" in before
    assert "Send w0 their gold link" in before
    requester.post(page, {"do": "requalify", "worker": state_of(watch).pk})
    shown = text_of(requester.get(page))
    assert "1 worker is tested again." in shown
    assert "2 tries each" in shown
    assert AuditEntry.objects.filter(kind="tested again", who="requester").exists()
    api = Client(headers={"authorization": f"Bearer {token}"})
    at = f"/api/watches/{watch.pk}/workers/w0/transitions"
    for move, status in (("requalify", 409), ("pause", 200), ("requalify", 200)):
        sent = api.post(f"{at}/{move}", {}, content_type="application/json")
        assert sent.status_code == status, sent.content
    assert (sent.json()["state"], sent.json()["tests"]) == ("testing", 2)


@pytest.mark.parametrize(("allowed", "tried"), [(1, 0), (3, 0), (3, 2), (1, 4)])
def test_tries_share_the_probability_of_a_false_result(allowed, tried):
    """All tries that may be had, or were had, need evidence of their number through delta."""
    watch = begin_test(tries=allowed)
    watch.workers.update(tried=max(tried, 1))
    test = MarkTest(0.8, 0.05, 0.05, max(allowed, tried, 1))
    (passed, needed) = test.decide([True] * 60)
    assert passed
    assert answer(watch, "y" * (needed - 1)) == "testing"
    assert answer(watch, "y", 20 + needed - 1) == "fine"
    assert state_of(watch).why == f"passed the test: {needed} of {needed} gold answers right"


def test_tolerance_of_a_test_is_that_of_the_watch():
    """With a wider tolerance a worker passes sooner; a low level has half of it."""
    watch = begin_test(tolerance=0.2)
    (_, needed) = MarkTest(0.8, 0.2, 0.05).decide([True] * 60)
    assert answer(watch, "y" * (needed - 1)) == "testing"
    assert answer(watch, "y", 20 + needed - 1) == "fine"
    watch.workers.update(level=0.1)
    assert requalification.build_test(watch, state_of(watch)).tolerance == 0.05


def test_end_of_a_test_asks_for_the_step_that_counts_the_answers_behind_it():
    watch = begin_test()
    gold.record_gold(watch, answers("w0", "y" * 60, 20))
    step = steps.WatchStep(watch)
    step.run()
    assert step.has_more
    assert state_of(watch).recount
