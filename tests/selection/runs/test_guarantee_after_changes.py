"""Changes of the roster that cost the guarantee of certified, on every surface."""

import json

import pytest

from selection import engine, reports
from selection.models import Run
from selection.runs import lifecycle
from selection.runs.roster import membership, previews, roster_opening
from tests.pages import admin_url, text_of
from tests.worlds import answer_all, crowd, make_run, play
from topk.guarantee import GUARANTEE_LOST
from topk.verify import digest_of, verify_dump

pytestmark = pytest.mark.django_db

FIELDS = {"n": 8, "k": 2, "algorithm": "certified", "epsilon": 0.4, "slots": 60}
RESPOND = crowd(2, good=3, high=0.99, low=0.1)
LARGER = FIELDS | {"n": 14, "k": 6, "epsilon": 0.25}
LARGER_CROWD = crowd(5, good=7, high=0.99, low=0.1)


def make_answered_run() -> Run:
    """Return a run with some counted answers and the workers w0 to w7."""
    run = make_run(**FIELDS)
    for _ in range(2):
        engine.advance(run.pk)
        answer_all(run, RESPOND)
    engine.advance(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.RUNNING
    return run


def test_withdrawal_after_answers_costs_the_guarantee(requester):
    run = make_answered_run()
    assert "no guarantee" in previews.preview_withdrawal(run, ["w0"])
    membership.withdraw_workers(run, ["w0"])
    assert reports.guarantee_of_run(run).text.startswith(GUARANTEE_LOST)
    assert GUARANTEE_LOST in text_of(requester.get(admin_url("run_page", run.pk)))
    run = play(run, RESPOND)
    assert run.ended_by_guarantee
    assert not run.certified
    guaranteed = reports.guarantee_of_run(run)
    assert (guaranteed.epsilon, guaranteed.verdict) == (None, "none")
    page = requester.get(admin_url("run_page", run.pk))
    assert GUARANTEE_LOST in text_of(page)
    assert "cs-note good" not in page.content.decode()
    document = reports.export_run(run)
    assert document["guarantee"].startswith(GUARANTEE_LOST)
    assert (document["certified"], document["verdict"]) == (False, "none")
    dump = json.loads(json.dumps(reports.dump_run(run, anonymous=True)))
    found = verify_dump(dump)
    assert found.same, [str(each) for each in found.findings]
    assert (found.guarantee, found.epsilon) == (GUARANTEE_LOST, None)


def test_guarantee_is_kept_without_counting_if_no_answering_worker_left(django_assert_num_queries):
    run = make_answered_run()
    with django_assert_num_queries(1):  # the workers that are gone
        assert not run.guarantee_lost


def test_dump_with_a_false_guarantee_is_found_out():
    run = make_answered_run()
    membership.withdraw_workers(run, ["w0"])
    run = play(run, RESPOND)
    dump = json.loads(json.dumps(reports.dump_run(run)))
    dump["result"] |= {"epsilon": 0.4, "guarantee": "With probability at least 0.9 all is well."}
    said = [str(each) for each in verify_dump(dump).findings]
    assert any("ε: none holds" in each for each in said), said


def test_early_end_after_a_withdrawal_claims_no_guarantee():
    run = make_answered_run()
    membership.withdraw_workers(run, ["w0"])
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert run.status == Run.Status.ENDED
    assert run.guarantee_lost
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.epsilon is None
    assert "The selected workers are favoured by all answers." in guaranteed.text


def test_taking_all_workers_back_returns_the_guarantee():
    run = make_answered_run()
    membership.withdraw_workers(run, ["w0", "w5"])
    assert "while other workers with counted answers" in previews.take_back(run, ["w5"])
    membership.take_back(run, ["w5"])
    assert run.guarantee_lost
    assert "covers 8 workers" in previews.take_back(run, ["w0"])
    membership.take_back(run, ["w0"])
    assert not run.guarantee_lost
    run = play(run, RESPOND)
    assert run.certified
    assert reports.guarantee_of_run(run).verdict == "kept"


def test_worker_without_answers_may_leave_and_the_weights_stay():
    run = make_run(**FIELDS)
    engine.advance(run.pk)
    answer_all(run, lambda slip: None if slip.candidate.worker.key == "w7" else RESPOND(slip))
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w7"])
    assert not run.guarantee_lost
    selector = engine.arrays.load_arrays(Run.objects.locked(run.pk)).selector
    assert selector.options["planned_for"] == 8
    run = play(run, RESPOND)
    assert run.certified
    dump = json.loads(json.dumps(reports.dump_run(run)))
    assert verify_dump(dump).same


def test_joining_after_answers_were_counted_costs_the_guarantee():
    run = make_answered_run()
    extra = make_extra(run)
    assert "no guarantee" in previews.join_others(run)
    assert "no guarantee" in previews.open_roster(run)
    roster_opening.join_others(run)
    run.refresh_from_db()
    assert run.candidates.filter(worker=extra).exists()
    assert run.guarantee_lost


def make_extra(run: Run):
    """Return a worker of the run's pool that is not in the run yet."""
    return run.pool.workers.create(key="w99")


def make_larger_run() -> Run:
    """Return a run with some counted answers that numberings certify."""
    run = make_run(**LARGER)
    for _ in range(2):
        engine.advance(run.pk)
        answer_all(run, crowd(5, good=7, high=0.99, low=0.1))
    engine.advance(run.pk)
    run.refresh_from_db()
    assert run.status == Run.Status.RUNNING
    return run


def test_numberings_cover_withdrawals():
    run = make_larger_run()
    assert "no guarantee" not in previews.preview_withdrawal(run, ["w0"])
    membership.withdraw_workers(run, ["w0", "w9"])
    assert not run.guarantee_lost
    assert "covers 13 workers" in previews.take_back(run, ["w9"])
    membership.take_back(run, ["w9"])
    assert run.best_guarantee == {}
    run = play(run, crowd(5, good=7, high=0.99, low=0.1))
    assert run.certified
    assert reports.guarantee_of_run(run).verdict == "kept"
    dump = json.loads(json.dumps(reports.dump_run(run)))
    assert verify_dump(dump).same


def test_numberings_lose_the_guarantee_when_workers_join():
    run = make_larger_run()
    assert "no guarantee" in previews.open_roster(run)
    make_extra(run)
    roster_opening.join_others(run)
    run.refresh_from_db()
    assert run.guarantee_lost


def start_open_and_join(first_step: bool) -> Run:
    """Return a run of 14; the last worker joined its open roster, after the first step or not."""
    run = make_run(**LARGER | {"n": 13, "enrolling": True})
    if first_step:
        engine.advance(run.pk)
        answer_all(run, LARGER_CROWD)
        engine.advance(run.pk)
        assert run.candidates.filter(pulls__gt=0).count() == 13
    roster_opening.join_roster(run, make_extra(run))
    roster_opening.close_roster(run)
    return Run.objects.get(pk=run.pk)


def assert_verified(run: Run) -> None:
    dump = json.loads(json.dumps(reports.dump_run(run)))
    dump["run"]["options"].pop("asked_open", None)  # the history decides, not the dump's word
    dump["digest"] = digest_of(dump)
    found = verify_dump(dump)
    assert found.same, [str(each) for each in found.findings]


def test_worker_joining_after_answers_is_certified_by_swaps():
    run = start_open_and_join(first_step=True)
    assert not run.covers_withdrawal
    assert not run.guarantee_lost
    assert "no guarantee" in previews.preview_withdrawal(run, ["w0"])
    run = play(run, LARGER_CROWD)
    assert run.certified
    assert engine.arrays.load_arrays(run).selector.pool is None
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.verdict == "kept"
    assert "when the roster closed, may not depend on the answers" in guaranteed.assumptions
    assert_verified(run)


def test_worker_joining_before_the_first_question_counts_as_initial():
    run = start_open_and_join(first_step=False)
    assert run.covers_withdrawal
    run = play(run, LARGER_CROWD)
    assert run.certified
    assert engine.arrays.load_arrays(run).selector.pool is not None
    assert_verified(run)


def test_remaining_algorithms_keep_their_guarantee_and_state_the_assumption():
    run = make_run(**FIELDS | {"algorithm": "lucb"})
    for _ in range(2):
        engine.advance(run.pk)
        answer_all(run, RESPOND)
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w0"])
    assert not run.guarantee_lost
    assert "whatever their reason" in previews.preview_withdrawal(run, ["w1"])
    assert reports.guarantee_of_run(play(run, RESPOND)).verdict == "kept"


def test_the_pages_of_gold_say_that_the_choice_of_keys_may_not_follow_the_answers(requester):
    run = make_answered_run()
    words = "only if the answers did not influence which keys you check"
    question = run.answers.order_by("pk").first().assignment.question
    assert words in text_of(requester.get(admin_url("questionset_gold", run.question_set_id)))
    correction = requester.get(admin_url("question_correct", question.pk), {"accept": "maybe"})
    assert words in text_of(correction)
