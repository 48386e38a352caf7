"""A worker's card in a run."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from selection import engine, reports
from selection.answers import overdue, presence, recording
from selection.models import Assignment, Candidate, Run
from selection.reports.right_shares import RightShare
from selection.runs import lifecycle
from selection.runs.roster import membership
from selection.worker import links
from tests.pages import admin_url, text_of
from tests.worlds import crowd, kept_run, make_run, play

pytestmark = pytest.mark.django_db


def card_of(requester, run: Run, key: str = "w0"):
    return requester.get(admin_url("run_worker", run.pk, candidate(run, key).pk))


def candidate(run: Run, key: str = "w0") -> Candidate:
    return run.candidates.get(worker__key=key)


def asked(run: Run, key: str = "w0") -> list[Assignment]:
    return list(candidate(run, key).assignments.order_by("position"))


def test_worker_page_shows_answers_with_their_times(requester):
    run = make_run(slots=60)
    engine.advance(run.pk)
    first, second, third = asked(run)
    presence.record_shown(run, [first.pk])
    page = timezone.now() - timedelta(seconds=31)  # the database counts in milliseconds
    Assignment.objects.filter(pk=first.pk).update(shown=page)
    recording.record_answer(first.pk, "yes")
    recording.record_answer(second.pk, "no")
    past = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=third.pk).update(shown=past, due=past)
    overdue.expire_overdue()
    engine.advance(run.pk)
    response = card_of(requester, run)
    answers = response.context["card"].given[:3]
    assert [answer.outcome for answer in answers] == ["right", "wrong", "not in time"]
    assert [answer.response for answer in answers] == ["yes", "no", ""]
    assert answers[0].took is not None
    assert 30 <= answers[0].took.total_seconds() < 60
    assert answers[1].took is None
    assert [answer.counted for answer in answers] == [2, 2, 2]
    assert answers[0].asked == run.history.get(number=1).at
    text = text_of(response)
    assert "1 right 1 wrong 1 not in time" in text
    assert "✓ right" in text
    assert "✗ wrong" in text


def test_worker_page_explains_the_verdict(requester):
    run = kept_run()
    text = text_of(card_of(requester, run))
    line = candidate(run)
    assert f"by {line.pulls} answers." in text
    assert "▲ accepted" in text
    assert f"In step {line.decided_in} of {run.steps}." in text
    assert line.decided_why[1:] in text


def test_worker_page_explains_a_missing_verdict(requester):
    run = make_run()
    engine.advance(run.pk)
    assert "Undecided: no answer of this worker is counted" in text_of(card_of(requester, run))
    membership.withdraw_workers(run, ["w1"])
    text = text_of(card_of(requester, run, "w1"))
    assert "– not tested" in text
    assert "was withdrawn" in text
    assert "neither accepted nor rejected" in text


def test_a_worker_without_questions_has_a_card(requester):
    run = make_run()
    text = text_of(card_of(requester, run))
    assert "This worker has no assignments yet." in text
    assert "in no other run" in text


def test_worker_page_shows_the_worker_s_other_runs(requester):
    earlier = play(make_run(), crowd(1, 2), most=3)
    lifecycle.stop_run(earlier)
    run = make_run(pool=earlier.pool, question_set=earlier.question_set)
    other = card_of(requester, run).context["card"].others[0]
    result = candidate(earlier)
    assert (other.run, other.answers, other.right) == (earlier, result.pulls, result.rewards)
    assert "ready for review" in text_of(card_of(requester, run))


def test_worker_page_has_the_personal_link_until_the_run_ends(requester):
    run = make_run()
    link = links.worker_url(candidate(run).pk)
    assert link in card_of(requester, run).content.decode()
    lifecycle.stop_run(run)
    assert link not in card_of(requester, run).content.decode()


def test_responses_need_the_permission_to_view_answers(client):
    clerk = User.objects.create_user("clerk", is_staff=True)
    clerk.user_permissions.add(Permission.objects.get(codename="view_run"))
    client.force_login(clerk)
    run = make_run()
    engine.advance(run.pk)
    recording.record_answer(asked(run)[0].pk, "my very own words")
    text = text_of(card_of(client, run))
    assert "my very own words" not in text
    assert "Accepted" not in text
    clerk.user_permissions.add(Permission.objects.get(codename="view_answer"))
    assert "my very own words" in text_of(card_of(client, run))


def test_a_worker_of_another_run_is_not_found(requester):
    run, other = make_run(), make_run()
    url = admin_url("run_worker", run.pk, candidate(other).pk)
    assert requester.get(url).status_code == 404


def test_the_interval_is_wilson_s():
    """His interval for 8 of 10 is .490 to .943 (Brown, Cai, DasGupta 2001, formula 4)."""
    lower, upper = RightShare(8, 10).wilson()
    assert (round(lower, 3), round(upper, 3)) == (0.490, 0.943)
    assert RightShare(0, 1).wilson()[0] == 0
    assert RightShare(1, 1).wilson()[1] == 1


def test_a_provisional_verdict_is_undecided_with_a_shape_of_its_own(requester):
    run = make_run(n=10, k=4, algorithm="universal", slots=18, epsilon=0.05, questions=200)
    play(run, crowd(4, 6, 0.95, 0.3), most=25)
    line = next(line for line in reports.worker_standings(run) if line.verdict == "settled in")
    text = text_of(card_of(requester, run, line.worker))
    assert "△ undecided" in text
    assert "settled in" not in text
    assert "provisionally selected" in text
