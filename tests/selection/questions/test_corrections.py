"""Corrections of gold: effects on answers, tallies, verdicts and guarantees."""

import numpy as np
import pytest

from selection import engine, reports
from selection.answers import recording
from selection.errors import Conflict, Refused
from selection.models import Answer, Assignment, Candidate, Question, Run
from selection.questions import corrections
from selection.questions.corrections import Gold
from selection.runs import changes, lifecycle
from tests.worlds import answer_all, crowd, make_questions, make_run, open_of, play
from topk import SELECTORS, State

pytestmark = pytest.mark.django_db


def make_miskeyed_set(*numbers: int, size: int = 200):
    """Return a question set in which these questions accept a wrong answer."""
    question_set = make_questions(size)
    question_set.questions.filter(number__in=numbers).update(accepted=["no"])
    return question_set


def correct_keys(question_set, *numbers: int) -> None:
    for question in question_set.questions.filter(number__in=numbers):
        right = Gold(question.prompt, ["yes"], question.choices, question.grading)
        corrections.correct_question(question, right, "ada", "the key was wrong")


def check_tallies(run: Run) -> None:
    """Assert that candidates hold the sums of their counted answers, which are their first ones."""
    for candidate in run.candidates.all():
        counted = Answer.objects.filter(assignment__candidate=candidate).exclude(applied_in=None)
        assert candidate.pulls == counted.filter(void=False).count()
        assert candidate.void == counted.filter(void=True).count()
        assert candidate.rewards == counted.filter(void=False, right=True).count()
        places = sorted(counted.values_list("assignment__position", flat=True))
        assert places == list(range(len(places)))


def candidate_rows(run: Run) -> list[tuple[object, ...]]:
    columns = ("worker__key", "asked", "pulls", "void", "rewards", "verdict")
    return list(run.candidates.order_by("worker__key").values_list(*columns))


def test_a_corrected_key_grades_every_answer_anew_in_mid_run():
    question_set = make_miskeyed_set(3)
    run = make_run(question_set=question_set, epsilon=0.05)
    play(run, crowd(1, good=2), most=30)
    correct_keys(question_set, 3)
    for answer in Answer.objects.filter(assignment__question__number=3):
        assert answer.right == (answer.response == "yes")
    check_tallies(run)


@pytest.mark.parametrize("name", ["lucb", "adaptive-top-k", "ugape-c", "certified", "credible"])
def test_a_run_corrected_on_the_way_keeps_going_to_the_best_workers(name):
    question_set = make_miskeyed_set(*range(5), size=1500)
    run = make_run(
        question_set=question_set, algorithm=name, slots=60, slots_per_worker=30, epsilon=0.25
    )
    play(run, crowd(3, good=2), most=4)
    correct_keys(question_set, *range(5))
    run.refresh_from_db()
    check_tallies(run)
    play(run, crowd(3, good=2))
    assert (run.status, run.ending) == ("ended", "guarantee")
    accepted = run.candidates.filter(verdict=Candidate.Verdicts.ACCEPTED)
    assert set(accepted.values_list("worker__key", flat=True)) == {"w0", "w1"}
    check_tallies(run)


def test_an_algorithm_in_rounds_is_played_again_as_if_the_key_had_been_right():
    """The same answers under the right key from the start bring the same tallies and verdicts."""
    question_set = make_miskeyed_set(*range(0, 300, 6), size=300)
    run = make_run(
        question_set=question_set, algorithm="adaptive-top-k", slots=600, slots_per_worker=100
    )
    while run.status == "running" and not run.memory.get("round", 1) > 2:
        engine.advance(run.pk)
        answer_all(run, crowd(5, good=2))
        run.refresh_from_db()
    correct_keys(question_set, *range(0, 300, 6))
    run.refresh_from_db()
    check_tallies(run)
    rows = list(run.candidates.order_by("arm"))
    selector = SELECTORS["adaptive-top-k"](run.problem(len(rows)), State.fresh(len(rows)))
    told = np.zeros(len(rows), int)
    moved = True
    while moved:
        moved = False
        for row in rows:
            most = min(row.pulls - told[row.arm], int(selector.takes()[row.arm]))
            answers = row.assignments.order_by("position")[told[row.arm] : told[row.arm] + most]
            right = [float(one.answer.right) for one in answers]
            if right:
                selector.tell([row.arm] * len(right), right)
                told[row.arm] += len(right)
                moved = True
    assert selector.state.pulls.tolist() == [row.pulls for row in rows]
    assert selector.state.verdict.tolist() == [row.verdict for row in rows]
    assert selector.round == run.memory["round"]
    play(run, crowd(5, good=2))
    check_tallies(run)


def test_a_retired_question_is_asked_no_more_and_costs_nothing():
    run = make_run(n=3, k=1, questions=40, budget=30, epsilon=0.01, slots=9)
    for question in run.question_set.questions.filter(number__lt=20):
        corrections.retire_question(question, "ada", "ambiguous")
    play(run, crowd(2, good=1))
    assert run.ending == Run.Ending.BUDGET
    given = Answer.objects.filter(run=run, void=False)
    assert given.count() == 30
    assert not given.filter(assignment__question__number__lt=20).exists()
    assert reports.read_progress(run).spent == 30
    assert reports.read_progress(run).remaining_budget == 0
    check_tallies(run)


def test_a_retired_question_that_is_out_closes_and_lets_later_answers_count():
    run = make_run(n=4, k=1, slots=12, algorithm="adaptive-top-k")
    engine.advance(run.pk)
    first, second, third = open_of(run)[:3]
    recording.record_answer(second.pk, "yes")
    recording.record_answer(third.pk, "yes")
    corrections.retire_question(first.question, "ada", "ambiguous")
    engine.advance(run.pk)
    candidate = Candidate.objects.get(pk=first.candidate_id)
    assert (candidate.pulls, candidate.void, candidate.rewards) == (2, 1, 2)
    assert recording.record_answer(
        first.pk, "yes"
    ).duplicate  # the worker is thanked, and it says nothing


def test_retiring_all_questions_ends_the_run():
    run = make_run(n=3, k=1, questions=6, epsilon=0.01)
    engine.advance(run.pk)
    for question in run.question_set.questions.all():
        corrections.retire_question(question, "ada", "all wrong")
    play(run, crowd(2, good=1))
    assert run.ending == Run.Ending.QUESTIONS
    assert reports.read_progress(run).spent == 0


@pytest.mark.parametrize("name", ["lucb", "adaptive-top-k"])
def test_retired_and_restored_question_counts_as_before(name):
    run = make_run(algorithm=name, epsilon=0.1)
    play(run, crowd(4, good=2), most=12)
    engine.advance(run.pk)
    before = candidate_rows(run)
    # A question without a holder: a holder during its retirement is never asked again.
    out = {one.question_id for one in open_of(run)}
    given = Answer.objects.exclude(applied_in=None).exclude(assignment__question__in=out)
    question = given.order_by("pk").first().assignment.question
    corrections.retire_question(question, "ada", "ambiguous")
    check_tallies(run)
    assert sum(row[3] for row in candidate_rows(run)) > 0
    corrections.restore_question(Question.objects.get(pk=question.pk), "ada", "it was fine")
    check_tallies(run)
    assert candidate_rows(run) == before


def test_a_void_answer_behind_one_that_waits_for_its_round_waits_as_well():
    run = make_run(
        n=4,
        k=1,
        algorithm="adaptive-top-k",
        epsilon=0.4,
        questions=3000,
        slots=400,
        slots_per_worker=200,
    )
    engine.advance(run.pk)
    one = run.candidates.get(arm=0)
    mine = list(one.assignments.order_by("position").select_related("question"))
    corrections.retire_question(mine[-1].question, "ada", "ambiguous")
    play(run, crowd(3, good=1, high=1.0, low=0.0))
    assert run.ending == "guarantee"
    check_tallies(run)


def test_history_names_the_correction_its_author_reason_and_workers():
    question_set = make_miskeyed_set(3)
    run = make_run(n=3, k=1, question_set=question_set, epsilon=0.01)
    play(run, crowd(1, good=3, high=1.0), most=49)
    correct_keys(question_set, 3)
    event = run.events.get(kind="regrade")
    assert (event.who, event.why) == ("ada", "the key was wrong")
    assert "Question “q3” accepted “no”, now “yes”." in event.what
    answers = Answer.objects.filter(assignment__question__number=3).count()
    assert answers
    assert f"{answers} answer" in event.what
    one = run.candidates.filter(assignments__question__number=3).exclude(pulls=0).first()
    right = round(one.rewards)
    assert f"{one.worker.key} {right - 1}/{one.pulls} → {right}/{one.pulls}" in event.what
    assert "may change" in event.what


def test_proof_under_the_old_key_is_discarded():
    run = make_run(epsilon=0.02)
    play(run, crowd(1, good=2), most=40)
    assert run.best_guarantee
    proved = run.best_guarantee["step"]
    question = Answer.objects.exclude(applied_in=None).first().assignment.question
    corrections.retire_question(question, "ada", "ambiguous")
    run.refresh_from_db()
    assert run.best_guarantee["step"] == run.steps > proved
    assert run.history.get(number=run.steps).gap == run.best_guarantee["epsilon"]


WIDE = {"epsilon": 0.6, "slots": 60, "slots_per_worker": 30}


def clear_crowd(seed: int = 3):
    """Return a crowd of two workers that know all and others that know nothing: runs are short."""
    return crowd(seed, good=2, high=1.0, low=0.0)


def play_with_wrong_keys() -> tuple[Run, object]:
    """Return a run that selected the wrong four, because all of its questions have a wrong key."""
    question_set = make_miskeyed_set(*range(80), size=80)
    run = make_run(k=4, question_set=question_set, **WIDE)
    play(run, clear_crowd())
    assert run.ending == "guarantee"
    return run, question_set


def test_an_ended_run_is_judged_anew_and_says_so():
    run, question_set = play_with_wrong_keys()
    chosen = {row.worker for row in reports.worker_standings(run) if row.selected}
    assert not chosen & {"w0", "w1"}
    correct_keys(question_set, *range(80))
    run.refresh_from_db()
    assert run.status == "ended"
    assert run.regraded
    check_tallies(run)
    export = reports.export_run(run)
    assert export["regraded_at"] == run.regraded.isoformat(" ", "seconds")
    assert "Gold questions were corrected after the end" in export["guarantee"]
    if run.ending == "guarantee":
        assert {"w0", "w1"} <= {row["worker"] for row in export["workers"]}
    else:
        assert run.ending == "regraded"
        assert not export["certified"]
        assert not run.candidates.exclude(verdict=0).exists()


def make_lost_run() -> Run:
    """Return an ended run that lost its guarantee as most of its questions were retired."""
    run = make_run(questions=80, **WIDE)
    play(run, clear_crowd())
    assert run.ending == "guarantee"
    for question in run.question_set.questions.filter(number__lt=70):
        corrections.retire_question(question, "ada", "ambiguous")
    run.refresh_from_db()
    return run


def test_a_guarantee_that_does_not_hold_any_more_is_not_claimed():
    run = make_lost_run()
    assert (run.status, run.ending) == ("ended", "regraded")
    assert not run.certified
    assert reports.guarantee_of_run(run).text.startswith("No guarantee: there were too few")
    assert not run.candidates.exclude(verdict=0).exists()
    assert any("no longer achieved" in event.what for event in run.events.all())


def test_a_run_that_lost_its_guarantee_can_go_on_to_keep_it():
    run = make_lost_run()
    lifecycle.reopen_run(run, "ada", "more answers are needed")
    for question in run.question_set.questions.exclude(retired=None):
        corrections.restore_question(question, "ada", "they were fine")
    run.refresh_from_db()
    assert (run.status, run.regraded) == ("running", None)
    play(run, clear_crowd())
    assert run.ending == "guarantee"
    accepted = run.candidates.filter(verdict=Candidate.Verdicts.ACCEPTED)
    assert set(accepted.values_list("worker__key", flat=True)) == {"w0", "w1"}
    assert run.events.filter(kind="reopen", who="ada").exists()


def test_a_run_that_lost_its_guarantee_with_its_money_needs_more_of_it():
    run = make_lost_run()
    assert run.reopens
    assert not run.may_be_raised  # it has no limit
    run.budget = run.count_spent()
    run.save()
    assert (run.reopens, run.may_be_raised) == (False, True)
    with pytest.raises(Conflict, match="raise it"):
        lifecycle.reopen_run(run)
    changes.apply_changes(run, {"budget": run.budget + 50}, "ada")
    run.refresh_from_db()
    assert (run.status, run.regraded) == ("running", None)


def test_only_a_run_that_lost_its_guarantee_is_reopened():
    run = make_run(questions=80, **WIDE)
    with pytest.raises(Conflict):
        lifecycle.reopen_run(run)
    play(run, clear_crowd())
    with pytest.raises(Conflict, match="lost its guarantee"):
        lifecycle.reopen_run(run)


def test_an_ended_run_of_rounds_is_played_again_and_does_not_go_on():
    run = make_run(questions=900, algorithm="adaptive-top-k", **WIDE | {"slots": 600})
    play(run, clear_crowd())
    assert run.ending == "guarantee"
    dealt = Assignment.objects.filter(candidate__run=run).values("question")
    for question in run.question_set.questions.filter(pk__in=dealt)[:20]:
        corrections.retire_question(question, "ada", "ambiguous")
    run.refresh_from_db()
    assert (run.status, run.ending) == ("ended", "regraded")
    check_tallies(run)
    with pytest.raises(Conflict, match="carried its plan out"):
        lifecycle.reopen_run(run)


def test_a_reason_is_needed_once_a_question_was_asked():
    run = make_run()
    engine.advance(run.pk)
    asked = open_of(run)[0].question
    with pytest.raises(Refused, match="reason"):
        corrections.retire_question(asked)
    asked.refresh_from_db()
    assert asked.retired is None
    with pytest.raises(Refused, match="Nothing would change"):
        corrections.correct_question(asked, Gold.from_question(asked), "ada", "no change")
    with pytest.raises(Conflict):
        corrections.restore_question(asked, "ada", "not retired")


def test_preview_of_a_correction_counts_the_answers():
    question_set = make_miskeyed_set(3, size=20)
    run = make_run(n=4, k=1, question_set=question_set, epsilon=0.01)
    play(run, crowd(1, good=4, high=1.0))
    question = question_set.questions.get(number=3)
    right = Gold(question.prompt, ["yes"], [], {})
    (found,) = corrections.preview_correction(question, right)
    assert (found.run, found.answers, found.graded) == (run, 4, 4)


def test_question_of_two_runs_is_corrected_in_both():
    question_set = make_miskeyed_set(3, size=20)
    both = [make_run(n=4, k=1, question_set=question_set, epsilon=0.01) for _ in range(2)]
    for run in both:
        play(run, crowd(1, good=4, high=1.0))
    correct_keys(question_set, 3)
    for run in both:
        check_tallies(run)
        assert run.events.filter(kind="regrade").count() == 1
    assert not Answer.objects.filter(assignment__question__number=3, right=False).exists()


def test_answers_of_workers_who_left_are_regraded_too():
    question_set = make_miskeyed_set(3, size=20)
    run = make_run(n=4, k=1, question_set=question_set, epsilon=0.01, algorithm="adaptive-top-k")
    play(run, crowd(1, good=4, high=1.0), most=10)
    run.candidates.filter(worker__key="w3").update(gone="left")
    correct_keys(question_set, 3)
    check_tallies(run)
    assert not Assignment.objects.filter(question__number=3, answer__right=False).exists()
