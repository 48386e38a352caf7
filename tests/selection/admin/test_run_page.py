"""A run's page: its state, and the reason why it ended."""

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from selection import engine, reports
from selection.answers import overdue, recording
from selection.models import Run
from selection.runs import lifecycle
from selection.runs.roster import membership
from tests.pages import admin_url, text_of
from tests.worlds import crowd, kept_run, make_pool, make_run, play

pytestmark = pytest.mark.django_db


def test_run_page_shows_the_state_of_a_run(requester):
    run = make_run()
    play(run, crowd(1, 2), most=3)
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "answers counted" in text
    assert "at most 30 points less accurate than the 2nd best" in text
    assert "Assumes that a worker's answers are independent" in text
    assert "at most 30 points less accurate than the 2nd best" in text
    assert "w0 Worker 0" in text


def test_run_page_explains_the_end_and_lists_the_selected_first(requester):
    run = make_run(questions=3000)
    play(run, crowd(1, 2))
    run.refresh_from_db()
    response = requester.get(admin_url("run_page", run.pk))
    text = text_of(response)
    assert run.ending == "guarantee"
    assert "The run ended because its rule to stop was met." in text
    chosen = [row.line.verdict for row in response.context["table"].rows]
    assert chosen == ["accepted"] * 2 + ["rejected"] * 4
    assert "step" in text


def test_a_run_that_was_stopped_does_not_claim_its_guarantee(requester):
    run = make_run()
    play(run, crowd(1, 2), most=2)
    lifecycle.stop_run(run)
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "it was stopped by hand" in text
    assert "No guarantee: there were too few answers." in text


def test_run_page_pages_filters_searches_and_sorts_many_workers(requester):
    run = make_run(n=230, questions=5, k=5)
    url = admin_url("run_page", run.pk)

    def workers(**query: object) -> list[str]:
        rows = requester.get(url, query).context["table"].rows
        return [row.line.worker for row in rows]

    assert len(workers()) == 100
    assert len(workers(page=3)) == 30
    assert workers(page="nonsense", sort="nonsense") == workers()
    assert "w22" in workers(q="W22")
    assert workers(q="Worker 229") == ["w229"]
    assert workers(sort="worker")[:3] == ["w0", "w1", "w10"]
    assert workers(sort="-worker")[0] == "w99"
    assert len(workers(verdict="not tested", page=3)) == 30
    assert workers(presence="active") == []
    assert workers(verdict="accepted") == []


def test_the_page_takes_few_queries_however_many_workers(requester, django_assert_max_num_queries):
    run = make_run(n=150, questions=5)
    with django_assert_max_num_queries(32):  # one asks PostgreSQL for the time
        requester.get(admin_url("run_page", run.pk))


def test_names_are_never_taken_for_markup(requester):
    run = make_run()
    worker = run.candidates.first().worker
    worker.name = "<script>alert(1)</script>"
    worker.save()
    page = requester.get(admin_url("run_page", run.pk)).content.decode()
    assert "<script>alert(1)" not in page


def test_the_border_is_drawn_below_the_best_k_in_order_of_merit_alone(requester):
    run = kept_run()
    url = admin_url("run_page", run.pk)
    rows = list(requester.get(url).context["pieces"].rows)
    assert rows.index(next(name for name in rows if name.endswith("-border"))) == 2
    assert "Above: the 2 selected" in text_of(requester.get(url))
    by_name = requester.get(url, {"sort": "worker"}).context["pieces"].rows
    assert not any(name.endswith("-border") for name in by_name)


def test_a_border_between_two_pages_is_on_the_second(requester):
    run = play(make_run(n=130, questions=5, k=100, slots=400), crowd(1, 2), most=2)
    url = admin_url("run_page", run.pk)
    assert not any("border" in name for name in requester.get(url).context["pieces"].rows)
    second = list(requester.get(url, {"page": 2}).context["pieces"].rows)
    assert second[0].endswith("-border")


def test_run_page_has_no_border_before_the_first_answer(requester):
    page = requester.get(admin_url("run_page", make_run().pk))
    assert not any("border" in name for name in page.context["pieces"].rows)


def test_a_verdict_has_a_shape_beside_its_colour(requester):
    run = kept_run()
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert text.count("▲ accepted") >= 2
    assert text.count("▼ rejected") >= 4


def test_late_answers_are_distinguished_from_wrong_ones(requester):
    run = make_run(slots=60)
    engine.advance(run.pk)
    worker = run.candidates.get(worker__key="w0")
    mine = list(worker.assignments.order_by("position"))
    recording.record_answer(mine[0].pk, "yes")
    recording.record_answer(mine[1].pk, "no")
    past = timezone.now() - timedelta(minutes=1)
    worker.assignments.filter(pk=mine[2].pk).update(shown=past, due=past)
    overdue.expire_overdue()
    engine.advance(run.pk)
    row = requester.get(admin_url("run_page", run.pk), {"q": "w0"}).context["table"].rows[0]
    assert (row.line.answers, row.line.right, row.line.wrong, row.line.lapsed) == (3, 1, 1, 1)


def test_workers_are_filtered_by_presence_and_attribute(requester):
    pool = make_pool(6, language=["English", "Spanish"], badge=[str(i) for i in range(6)])
    run = make_run(pool=pool)
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w5"])
    present = run.candidates.filter(worker__key__in=["w0", "w1"])
    present.update(seen=timezone.now())
    url = admin_url("run_page", run.pk)

    def workers(**query: object) -> list[str]:
        rows = requester.get(url, query).context["table"].rows
        return sorted(row.line.worker for row in rows)

    assert workers(presence="active") == ["w0", "w1"]
    assert workers(presence="invited") == ["w2", "w3", "w4"]
    assert workers(presence="gone") == ["w5"]
    assert workers(attribute="language=Spanish") == ["w1", "w3", "w5"]
    assert workers(attribute="language=Spanish", presence="active") == ["w1"]
    assert workers(attribute="nonsense") == workers()
    page = requester.get(url)
    assert page.context["attributes"]["language"] == ["English", "Spanish"]
    assert "Not started 3 Active 2 Gone 1" in text_of(page)


def test_workers_who_left_come_last_and_are_called_not_tested(requester):
    run = make_run()
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w0"])
    engine.advance(run.pk)
    page = requester.get(admin_url("run_page", run.pk))
    last = page.context["table"].rows[-1].line
    assert (last.worker, last.verdict, last.presence) == ("w0", "not tested", "withdrawn")
    assert "This is about the other 5" in text_of(page)


def test_an_open_roster_says_how_many_joined_and_how_it_closes(requester):
    run = make_run(enrolling=True, enrol_most=9)
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "Waiting for workers to join" in text  # the workers of the pool did not join
    assert "With those of the pool, 6 workers of at most 9 are on the roster." in text
    assert "The roster closes with 9 workers." in text


def test_times_have_their_zone_and_durations_are_never_empty(requester):
    run = make_run()
    lifecycle.stop_run(run)
    start = datetime(2026, 11, 22, 14, 5, tzinfo=UTC)
    Run.objects.update(started=start, ended=start + timedelta(seconds=40))
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "Ready for review ended 22 Nov 2026, 14:05 UTC , after 40 seconds" in text
    assert "22 Nov 2026, 14:05 UTC" in text_of(requester.get(reverse("admin:index")))


def test_a_proved_guarantee_stays_on_the_page_when_the_selection_changes(requester):
    run = play(make_run(algorithm="certified", epsilon=0.01, slots=60), crowd(3, 2), most=4)
    others = [line for line in reports.worker_standings(run) if not line.selected][:2]
    arms = run.candidates.filter(pk__in=[line.candidate for line in others])
    proof = {"epsilon": 0.08, "arms": list(arms.values_list("arm", flat=True)), "step": 3}
    Run.objects.update(best_guarantee=proof)
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "the 2 selected are on average at most 8 points less accurate" in text
    assert "holds since step 3, for the selection of that moment: 2" in text
