"""Void budget: assignments stay in the budget after their question is retired."""

import numpy as np
import pytest
from django.db.models import Count
from django.utils import timezone

from selection import engine, reports
from selection.answers import recording
from selection.errors import Conflict
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Answer, Assignment, Question, Run
from selection.questions import corrections
from selection.runs import consistency, void_budget
from tests.worlds import crowd, make_run, open_of, play
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db


def play_with_retirement(**fields: object) -> tuple[Run, Question, int]:
    """Return an ended run of 60 answers, a question retired on the way, and its number of
    answers."""
    run = make_run(epsilon=0.05, budget=60, **fields)
    play(run, crowd(1, good=2), most=4)
    dealt = run.answers.values_list("assignment__question").annotate(many=Count("pk"))
    question = Question.objects.get(pk=max(dealt, key=lambda row: row[1])[0])
    corrections.retire_question(question, "ada", "unclear")
    play(run, crowd(1, good=2))
    return run, question, Answer.objects.filter(run=run, void=True).responded().count()


def test_answers_before_a_retirement_stay_in_the_budget():
    run, question, given = play_with_retirement()
    assert given
    assert (run.ending, run.count_spent(), reports.count_given(run)) == ("budget", 60, 60)
    assert reports.read_progress(run).counted == 60 - given
    assert consistency.find_faults(run) == []
    corrections.restore_question(question, "ada", "it was clear")
    run.refresh_from_db()
    assert (run.budget, run.count_spent(), reports.read_progress(run).counted) == (60, 60, 60)
    assert consistency.find_faults(run) == []


def test_raised_budget_replaces_the_void_answers():
    run, _, given = play_with_retirement()
    lacks = void_budget.void_budget_of(run)
    assert (lacks.answers, lacks.budget) == (given, 60 + given)
    void_budget.make_up(run, "ada", "they were paid in vain")
    run.refresh_from_db()
    assert (run.status, run.budget, void_budget.void_budget_of(run)) == (
        "running",
        60 + given,
        None,
    )
    play(run, crowd(1, good=2))
    assert (run.ending, reports.read_progress(run).counted) == ("budget", 60)
    assert void_budget.void_budget_of(run) is None
    with pytest.raises(Conflict, match="became void"):
        void_budget.make_up(run)


def test_fixed_budget_is_not_raised_by_void_answers():
    run, _, given = play_with_retirement(algorithm="uniform")
    assert (run.ending, run.count_spent(), reports.count_given(run)) == ("budget", 60, 60)
    lacks = void_budget.void_budget_of(run)
    assert (lacks.answers, lacks.budget) == (given, None)
    assert f"at most {60 - given} can count" in lacks.words
    with pytest.raises(Conflict):
        void_budget.make_up(run)
    assert not verify_dump(reports.dump_run(run)).findings


def test_only_unseen_retired_questions_cost_no_budget():
    run = make_run(n=4, k=1, slots=12, budget=40)
    engine.advance(run.pk)
    first, second, third = open_of(run)[:3]
    Assignment.objects.filter(pk=second.pk).update(shown=timezone.now())
    recording.record_answer(third.pk, "yes")
    assert run.count_spent() == 12
    for one, cost in ((second, 12), (third, 12), (first, 11)):
        corrections.retire_question(one.question, "ada", "ambiguous")
        assert run.count_spent() == cost


def test_budget_is_never_exceeded_under_retirements_restorations_and_answers():
    run = make_run(n=5, k=2, questions=30, epsilon=0.01, budget=50, slots=10)
    rng, respond = np.random.default_rng(5), crowd(2, good=2)
    while run.status == "running":
        engine.advance(run.pk)
        for one in open_of(run):
            if rng.random() < 0.3:
                Assignment.objects.filter(pk=one.pk).update(shown=timezone.now())
            if rng.random() < 0.6:
                recording.record_answer(one.pk, respond(one))
        for question in run.question_set.questions.all():
            if rng.random() < (0.3 if question.retired else 0.05):
                (corrections.restore_question if question.retired else corrections.retire_question)(
                    question, "a", "b"
                )
        assert reports.count_given(run) <= run.count_spent() <= 50
        run.refresh_from_db()
    assert run.ending == Run.Ending.BUDGET
    assert run.answers.wasted().exists()
    assert consistency.find_faults(run) == []


def test_answers_made_elsewhere_are_not_used_up_for_a_retired_question():
    run = make_run(n=3, k=1, questions=6, epsilon=0.01, budget=18, recorded_only=True)
    rows = [AnswerRow(i, f"w{i % 3}", f"q{i // 3}", "yes") for i in range(18)]
    corrections.retire_question(run.question_set.questions.get(number=0), "ada", "ambiguous")
    validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    play(run, crowd(1, good=1))
    assert (run.ending, run.count_spent()) == ("questions", 15)
    assert not run.answers.filter(void=True).exists()
    assert run.candidates.filter(recorded__question__number=0).count() == 3
