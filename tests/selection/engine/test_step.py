"""Steps of the engine: counting, dealing, ending."""

from datetime import timedelta

import pytest
from django.utils import timezone

from packages.topk.tests.parameters import mostly_slow
from selection import engine, reports
from selection.answers import overdue, recording
from selection.models import Answer, Assignment, Candidate, Run, Step
from selection.runs import lifecycle
from tests.worlds import answer_all, crowd, make_run, open_of, play
from topk import SELECTORS

pytestmark = pytest.mark.django_db


def test_step_hands_out_at_most_the_slots_in_all_and_per_worker():
    run = make_run(n=6, slots=10, slots_per_worker=3, algorithm="adaptive-top-k")
    engine.advance(run.pk)
    assert Assignment.objects.filter(candidate__run=run).count() == 10
    assert max(run.candidates.values_list("asked", flat=True)) <= 3


def test_an_extra_advance_writes_nothing():
    run = make_run()
    assert engine.advance(run.pk) is not None
    assert engine.advance(run.pk) is None
    assert Step.objects.filter(run=run).count() == 1


def test_step_counts_a_worker_s_answers_in_the_order_asked():
    run = make_run(n=4, k=1, slots=12, slots_per_worker=3, algorithm="adaptive-top-k")
    engine.advance(run.pk)
    candidate = run.candidates.get(arm=0)
    first, second, third = open_of(run)[:3]
    assert {a.candidate_id for a in (first, second, third)} == {candidate.pk}
    recording.record_answer(third.pk, "yes")
    recording.record_answer(second.pk, "yes")
    engine.advance(run.pk)
    candidate.refresh_from_db()
    assert candidate.pulls == 0
    recording.record_answer(first.pk, "no")
    engine.advance(run.pk)
    candidate.refresh_from_db()
    assert (candidate.pulls, candidate.rewards) == (3, 2)


def test_answers_are_applied_in_exactly_one_step():
    run = play(make_run(), crowd(1, good=2))
    applied = Answer.objects.filter(run=run).exclude(applied_in=None)
    assert sum(run.history.values_list("applied", flat=True)) == applied.count()
    for step in run.history.all():
        assert applied.filter(applied_in=step.number).count() == step.applied


@pytest.mark.parametrize("name", mostly_slow(SELECTORS, ordinary=("certified", "sar")))
def test_algorithms_run_to_their_end(name):
    k = 1 if name == "lil-ucb" else 2
    fixed = SELECTORS[name].guarantee.fixed == "budget"
    heuristic = {"parameters": "heuristic"} if name == "lil-ucb" else {}
    run = make_run(
        n=4,
        k=k,
        algorithm=name,
        options=heuristic,
        budget=100 if fixed else None,
        pass_mark=0.8 if SELECTORS[name].takes_mark else None,
        epsilon=0.4,
        questions=3000,
        slots=400,
        slots_per_worker=200,
    )
    play(run, crowd(3, good=k, high=1.0, low=0.0))
    assert (run.status, run.ending) == ("ended", "budget" if fixed else "guarantee")
    accepted = run.candidates.filter(verdict=Candidate.Verdicts.ACCEPTED)
    assert set(accepted.values_list("worker__key", flat=True)) == {f"w{i}" for i in range(k)}
    assert not run.candidates.filter(verdict=Candidate.Verdicts.UNDECIDED).exists()
    assert all(candidate.decided_why for candidate in run.candidates.all())


def test_budget_bounds_the_assignments():
    run = play(make_run(budget=31, questions=500, epsilon=0.05), crowd(4, good=2))
    assert run.ending == Run.Ending.BUDGET
    assert Assignment.objects.filter(candidate__run=run).count() == 31


def test_run_ends_when_the_questions_are_used_up():
    run = play(make_run(questions=5, algorithm="adaptive-top-k"), crowd(5, good=2))
    assert run.ending == Run.Ending.QUESTIONS
    assert set(run.candidates.values_list("pulls", flat=True)) == {5}


def test_an_overdue_assignment_counts_as_not_right_and_lets_later_answers_count():
    run = make_run(n=4, k=1, algorithm="adaptive-top-k", slots=12)
    engine.advance(run.pk)
    first, second = open_of(run)[:2]
    recording.record_answer(second.pk, "yes")
    Assignment.objects.filter(pk=first.pk).update(due=timezone.now() - timedelta(seconds=1))
    assert sorted(overdue.expire_overdue()) == [run.pk]
    engine.advance(run.pk)
    candidate = Candidate.objects.get(pk=first.candidate_id)
    assert (candidate.pulls, candidate.rewards) == (2, 1)


def test_paused_run_stays_unchanged_until_resumed():
    run = make_run()
    engine.advance(run.pk)
    lifecycle.pause_run(run)
    answer_all(run, crowd(6, good=2))
    assert engine.advance(run.pk) is None
    lifecycle.resume_run(run)
    assert engine.advance(run.pk).applied == 12


def test_the_same_seed_and_answers_give_the_same_run():
    one, two = (play(make_run(seed=11), crowd(7, good=2)) for _ in range(2))
    facts = ["worker__key", "arm", "asked", "pulls", "rewards", "verdict", "decided_why"]
    assert list(one.candidates.values_list(*facts)) == list(two.candidates.values_list(*facts))
    rows = ["number", "applied", "dealt", "gap"]
    assert list(one.history.values_list(*rows)) == list(two.history.values_list(*rows))


def test_no_worker_is_asked_a_question_twice():
    run = play(make_run(questions=40, epsilon=0.05), crowd(8, good=2))
    for candidate in run.candidates.all():
        asked = list(candidate.assignments.values_list("question_id", flat=True))
        assert len(asked) == len(set(asked))


def test_selection_equals_one_computed_from_all_answers_at_once():
    run = play(make_run(), crowd(9, good=2))
    rows = list(run.candidates.order_by("arm"))
    selector = SELECTORS["lucb"](run.problem(len(rows)))
    for row in rows:
        selector.tell([row.arm], [row.rewards], [row.pulls])
    assert selector.stop() == ("guarantee",)
    accepted = [row.arm for row in rows if row.verdict == 1]
    assert selector.selection().tolist() == accepted


def test_a_guarantee_about_this_question_set_knows_the_set_s_size():
    run = make_run(algorithm="certified", options={"accuracy": "on this question set"})
    assert run.effective_options()["questions"] == 200
    assert engine.advance(run.pk).dealt == 12
    sentence = reports.guarantee_of_run(run).target
    assert "accuracy on this set of 200 questions" in sentence


def test_a_run_deals_from_the_pinned_decks():
    """The numbers are those of topk's test_question_order.py: runs that go on depend on them."""
    run = make_run(n=2, k=1, questions=10, slots=20, slots_per_worker=10, seed=7)
    engine.advance(run.pk)
    dealt: dict[int, list[int]] = {0: [], 1: []}
    for assignment in sorted(open_of(run), key=lambda a: a.position):
        dealt[assignment.candidate.arm].append(assignment.question.number)
    assert dealt == {0: [9, 4, 8, 0, 3, 6, 2, 1, 5, 7], 1: [2, 6, 9, 5, 0, 7, 8, 4, 1, 3]}
