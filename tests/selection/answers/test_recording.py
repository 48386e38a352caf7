"""Recording of answers, and refusals."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from selection import db_clock, engine
from selection.answers import batch, overdue, presence, recording
from selection.errors import Answered, Conflict, NotFound, Refused, TooLate
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Answer, Assignment, RecordedAnswer, Run
from selection.questions import corrections
from selection.runs import lifecycle
from tests.worlds import answer_all, crowd, make_run, open_of, play

SHORT = timedelta(milliseconds=1)  # SQLite's own time has no shorter ones

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    run = make_run(algorithm="adaptive-top-k", slots=18)
    engine.advance(run.pk)
    return run


def test_a_response_that_comes_again_leaves_the_first_as_it_is(run):
    assignment = open_of(run)[0]
    assert not recording.record_answer(assignment.pk, "yes").duplicate
    assert recording.record_answer(assignment.pk, "yes").duplicate
    with pytest.raises(Answered):
        recording.record_answer(assignment.pk, "no")
    assert Answer.objects.get(pk=assignment.pk).response == "yes"


def test_a_late_response_is_told_so_before_and_after_the_sweep(run):
    assignment = open_of(run)[0]
    Assignment.objects.filter(pk=assignment.pk).update(due=timezone.now() - timedelta(minutes=1))
    with pytest.raises(TooLate):
        recording.record_answer(assignment.pk, "yes")
    overdue.expire_overdue()
    with pytest.raises(TooLate):
        recording.record_answer(assignment.pk, "yes")
    assert not Answer.objects.get(pk=assignment.pk).right


def test_answer_has_the_time_of_the_database_not_of_the_host(run, monkeypatch):
    before, real = db_clock.database_now(), timezone.now
    one, two, three = open_of(run)[:3]
    for ahead in (timedelta(hours=1), timedelta(hours=-1)):
        monkeypatch.setattr(timezone, "now", lambda ahead=ahead: real() + ahead)
        recording.record_answer(one.pk, "yes")
        batch.record_batch([(two.pk, "yes"), (three.pk, "no")], run.team_id)
        given = Answer.objects.filter(run=run).values_list("at", flat=True)
        assert len(given) == 3
        assert all(timedelta(0) <= at - before + SHORT < timedelta(minutes=10) for at in given)
        Answer.objects.filter(run=run).delete()


def test_an_empty_or_endless_response_is_refused(run):
    for response in ("", "  \n", "x" * 10_001, "a\0b"):
        with pytest.raises(Refused):
            recording.record_answer(open_of(run)[0].pk, response)


def test_an_assignment_belongs_to_one_worker(run):
    mine, other = open_of(run)[0], open_of(run)[-1]
    with pytest.raises(NotFound):
        recording.record_answer(other.pk, "yes", candidate_id=mine.candidate_id)
    with pytest.raises(NotFound):
        recording.record_answer(10**9, "yes")


def test_an_ended_run_takes_no_more(run):
    lifecycle.stop_run(run)
    with pytest.raises(Conflict, match="ended"):
        recording.record_answer(open_of(run)[0].pk, "yes")


def test_sorting_names_every_bad_row_by_line_and_reason(run):
    taken = open_of(run)[0]
    recording.record_answer(taken.pk, "yes")
    worker, question = taken.candidate.worker.key, taken.question.key
    rows = [
        AnswerRow(2, "nobody", "q1", "yes"),
        AnswerRow(3, worker, "q-none", "yes"),
        AnswerRow(4, worker, question, "no"),
        AnswerRow(5, worker, question, "  "),
    ]
    sorting = validate_answers.validate_answers(run, rows)
    assert sorting.valid_count == 0
    assert [(bad.line, bad.why) for bad in sorting.problems] == [
        (2, "There is no worker “nobody” in this run."),
        (3, "There is no question “q-none” in this run's question set."),
        (4, f"“{worker}” has already answered question “{question}”."),
        (5, f"“{worker}” has already answered question “{question}”."),
    ]


def test_refusal_distinguishes_answered_retired_and_late_questions(run):
    retired, answered, late = (row for row in open_of(run)[:3])
    recording.record_answer(answered.pk, "yes")
    for row in (retired, answered):
        corrections.retire_question(row.question, "ada", "black")
    Assignment.objects.filter(pk=late.pk).update(due=db_clock.database_now() - timedelta(minutes=1))
    overdue.expire_overdue()
    rows = [
        AnswerRow(line, row.candidate.worker.key, row.question.key, "yes")
        for line, row in enumerate((retired, answered, late))
    ]
    assert [bad.why for bad in validate_answers.validate_answers(run, rows).problems] == [
        f"Question “{rows[0].question}” was retired before “{rows[0].worker}” answered it.",
        f"“{rows[1].worker}” has already answered question “{rows[1].question}”.",
        f"Too late: “{rows[2].worker}” had to answer “{rows[2].question}” before.",
    ]


def test_answers_made_elsewhere_go_to_open_assignments_or_wait_until_asked(run):
    out = open_of(run)[0]
    asked = set(out.candidate.assignments.values_list("question__key", flat=True))
    unasked = next(f"q{i}" for i in range(200) if f"q{i}" not in asked)
    worker = out.candidate.worker.key
    rows = [AnswerRow(2, worker, out.question.key, "yes"), AnswerRow(3, worker, unasked, "yes")]
    sorting = validate_answers.validate_answers(run, rows)
    validate_answers.record_valid_answers(run, sorting)
    assert (len(sorting.answers), len(sorting.recorded)) == (1, 1)
    assert Answer.objects.filter(pk=out.pk).exists()
    answer_all(run, crowd(1, good=2))
    engine.advance(run.pk)
    dealt = Assignment.objects.get(candidate=out.candidate, question__key=unasked)
    assert dealt.answer.response == "yes"
    assert not RecordedAnswer.objects.exists()


def test_run_on_recorded_answers_asks_no_worker():
    run = make_run(recorded_only=True, questions=40, slots=30)
    respond = crowd(1, good=2)
    rows = [
        AnswerRow(0, f"w{worker}", f"q{number}", "yes" if (worker + number) % 3 else "no")
        for worker in range(6)
        for number in range(25)
    ]
    assert engine.advance(run.pk) is None
    validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    play(run, respond)
    assert run.ending == Run.Ending.QUESTIONS
    assert not open_of(run)
    assert Answer.objects.filter(run=run).count() <= 6 * 25


def test_recorded_answers_never_make_a_question_come_twice():
    run = make_run(n=3, k=1, questions=30, epsilon=0.01, slots=9)
    rows = [AnswerRow(0, "w1", f"q{number}", "yes") for number in range(0, 30, 2)]
    engine.advance(run.pk)
    validate_answers.record_valid_answers(run, validate_answers.validate_answers(run, rows))
    play(run, crowd(2, good=1))
    candidate = run.candidates.get(worker__key="w1")
    asked = list(candidate.assignments.values_list("question__number", flat=True))
    assert sorted(asked) == list(range(30))


def all_rows(run: Run) -> list[AnswerRow]:
    keys = run.candidates.values_list("worker__key", flat=True)
    return [AnswerRow(0, key, f"q{i}", "yes") for key in keys for i in range(20)]


def test_answers_sent_twice_are_taken_once_despite_a_step_in_between():
    """Otherwise it would wait for a question asked already, and every further step fail."""
    run = make_run(questions=20, recorded_only=True, epsilon=0.01)
    first, second = (validate_answers.validate_answers(run, all_rows(run)) for _ in range(2))
    validate_answers.record_valid_answers(run, first)
    assert engine.advance(run.pk)
    validate_answers.record_valid_answers(run, second)
    answered = Answer.objects.filter(run=run).count()
    assert answered + second.valid_count == 6 * 20
    play(run, crowd(1, good=2))
    assert run.status == "ended"


def test_questions_asked_since_an_import_was_sorted_are_answered_by_it():
    run = make_run(questions=20, epsilon=0.01)
    sorting = validate_answers.validate_answers(run, all_rows(run))
    assert engine.advance(run.pk)
    out = open_of(run)
    validate_answers.record_valid_answers(run, sorting)
    assert len(sorting.answers) == len(out) > 0
    assert sorting.valid_count == 6 * 20
    assert not open_of(run)


def test_answer_to_a_question_withdrawn_since_sorting_waits(run):
    out = open_of(run)[-1]
    worker, question = out.candidate.worker.key, out.question.key
    sorting = validate_answers.validate_answers(run, [AnswerRow(0, worker, question, "yes")])
    out.delete()
    Run.objects.filter(pk=run.pk).update(steps=F("steps") + 1)
    validate_answers.record_valid_answers(run, sorting)
    assert (len(sorting.answers), len(sorting.recorded)) == (0, 1)


def test_no_import_goes_to_a_run_that_ended_while_it_was_sorted(run):
    sorting = validate_answers.validate_answers(run, all_rows(run))
    lifecycle.stop_run(run)
    with pytest.raises(Conflict, match="ended"):
        validate_answers.record_valid_answers(run, sorting)


def test_an_answer_made_elsewhere_is_not_late_in_a_pause(run):
    out = open_of(run)[0]
    moment = timezone.now() - timedelta(minutes=5)
    Assignment.objects.filter(pk=out.pk).update(shown=moment, due=moment)
    row = AnswerRow(0, out.candidate.worker.key, out.question.key, "yes")
    assert "Too late" in validate_answers.validate_answers(run, [row]).problems[0].why
    lifecycle.pause_run(run)
    run.refresh_from_db()
    assert len(validate_answers.validate_answers(run, [row]).answers) == 1


@pytest.mark.django_db(transaction=True)
def test_a_question_that_is_taken_back_in_this_moment_costs_others_of_its_batch_nothing(
    monkeypatch,
):
    run = make_run(slots=6)
    engine.advance(run.pk)
    gone, *others = open_of(run)
    store = recording.insert_answers

    def late(*arguments: object) -> int:
        Assignment.objects.filter(pk=gone.pk).delete()
        return store(*arguments)

    monkeypatch.setattr(recording, "insert_answers", late)
    monkeypatch.setattr(batch, "insert_answers", late)
    sent = [(one.pk, "yes") for one in (gone, *others)]
    first, *rest = batch.record_batch(sent, run.team_id)
    assert isinstance(first, NotFound)
    assert not any(isinstance(one, Refused) for one in rest)
    assert Answer.objects.filter(run=run).count() == len(others) > 0


@pytest.mark.django_db(transaction=True)
def test_answer_to_a_question_withdrawn_at_this_moment_is_not_found(monkeypatch):
    run = make_run(slots=6)
    engine.advance(run.pk)
    gone, store = open_of(run)[0], recording.insert_answers

    def late(*arguments: object) -> int:
        Assignment.objects.filter(pk=gone.pk).delete()
        return store(*arguments)

    monkeypatch.setattr(recording, "insert_answers", late)
    with pytest.raises(NotFound):
        recording.record_answer(gone.pk, "yes")


def test_answers_for_another_team_s_run_are_unknown(run):
    first, second = open_of(run)[:2]
    with pytest.raises(NotFound):
        recording.record_answer(first.pk, "yes", team_id=run.team_id + 1)
    [result] = batch.record_batch([(second.pk, "yes")], run.team_id + 1)
    assert isinstance(result, NotFound)
    assert not Answer.objects.exists()


def test_choices_that_differ_by_a_mark_are_graded_by_it(run):
    """The choices decide on what is compared."""
    slip = open_of(run)[0]
    questions = type(slip.question).objects.filter(pk=slip.question_id)
    questions.update(choices=["C", "C."], accepted=["C"])
    recording.record_answer(slip.pk, "C.")
    assert not Answer.objects.get().right


def test_a_second_look_does_not_restart_the_time_to_answer(run):
    slip = open_of(run)[0]
    presence.record_shown(run, [slip.pk])
    past = timezone.now() - timedelta(minutes=5)
    Assignment.objects.filter(pk=slip.pk).update(shown=past, due=past + timedelta(minutes=20))
    presence.record_shown(run, [slip.pk])
    slip.refresh_from_db()
    assert (slip.shown, slip.due) == (past, past + timedelta(minutes=20))


def test_nothing_expires_during_a_pause(run):
    slip = open_of(run)[0]
    presence.record_shown(run, [slip.pk])
    lifecycle.pause_run(run)
    assert overdue.expire_overdue(timezone.now() + timedelta(days=1)) == {}
    assert not Answer.objects.exists()
