"""A run's page: how it stands, and why it ended."""

import pytest

from selection.setup import runs
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_run, play

pytestmark = pytest.mark.django_db


def test_it_shows_how_a_run_stands(requester):
    run = make_run()
    play(run, crowd(1, 2), most=3)
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "answers counted" in words
    assert "has to fall to 0.300" in words
    assert "Assumes that a worker's answers are independent" in words
    assert "within 0.3 of the 2nd best" in words
    assert "w0 Worker 0" in words


def test_it_says_why_a_run_ended_and_shows_the_selected_first(requester):
    run = make_run(questions=3000)
    play(run, crowd(1, 2))
    run.refresh_from_db()
    response = requester.get(admin_url("run_page", run.pk))
    words = text_of(response)
    assert run.ending == "promise"
    assert "The run ended because the promise holds." in words
    chosen = [row.line.verdict for row in response.context["table"].rows]
    assert chosen == ["accepted"] * 2 + ["rejected"] * 4
    assert "step" in words


def test_a_run_that_was_stopped_does_not_claim_its_promise(requester):
    run = make_run()
    play(run, crowd(1, 2), most=2)
    runs.stop(run)
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "it was stopped by hand" in words
    assert "Not certified" in words


def test_the_fragment_is_only_what_changes(requester):
    run = make_run()
    response = requester.get(admin_url("run_page", run.pk), {"fragment": "1"})
    page = response.content.decode()
    assert 'id="live-top" data-part data-live' in page
    assert "<html" not in page
    assert 'type="search"' not in page
    runs.pause(run)
    paused = requester.get(admin_url("run_page", run.pk), {"fragment": "1"}).content.decode()
    assert "data-live" not in paused


def test_it_pages_filters_searches_and_sorts_many_workers(requester):
    run = make_run(n=230, questions=5, k=5)
    url = admin_url("run_page", run.pk)

    def workers(**asked: object) -> list[str]:
        rows = requester.get(url, asked).context["table"].rows
        return [row.line.worker for row in rows]

    assert len(workers()) == 100
    assert len(workers(page=3)) == 30
    assert workers(page="nonsense", sort="nonsense") == workers()
    assert "w22" in workers(q="W22")
    assert workers(q="Worker 229") == ["w229"]
    assert workers(sort="worker")[:3] == ["w0", "w1", "w10"]
    assert workers(sort="-worker")[0] == "w99"
    assert len(workers(verdict="undecided", page=3)) == 30
    assert workers(verdict="accepted") == []


def test_the_page_takes_few_queries_however_many_workers(requester, django_assert_max_num_queries):
    run = make_run(n=150, questions=5)
    with django_assert_max_num_queries(22):
        requester.get(admin_url("run_page", run.pk))


def test_names_are_never_taken_for_markup(requester):
    run = make_run()
    worker = run.candidates.first().worker
    worker.name = "<script>alert(1)</script>"
    worker.save()
    page = requester.get(admin_url("run_page", run.pk)).content.decode()
    assert "<script>alert(1)" not in page
