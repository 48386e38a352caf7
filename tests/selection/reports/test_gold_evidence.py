"""Gold health on few answers and on waiting answers, and its suggestions."""

import pytest

from selection import engine
from selection.answers import recording
from selection.imports.row_parsers import AnswerRow
from selection.imports.validate_answers import record_valid_answers, validate_answers
from selection.models import Run
from selection.reports import gold_health
from selection.reports.gold_health import SELDOM, GoldLine, RightShare
from tests.worlds import make_questions, make_run, open_of

pytestmark = pytest.mark.django_db


def run_with_wrong_key(n: int) -> Run:
    questions = make_questions(20)
    questions.questions.filter(key="q3").update(accepted=["no"])
    run = make_run(n=n, k=2, question_set=questions, slots=4, slots_per_worker=1)
    engine.advance(run.pk)
    return Run.objects.get(pk=run.pk)


def import_answers(run: Run, workers: int) -> None:
    """Import "yes" from all workers, except that worker 0 says "no" to q5 and q6."""
    rows = [
        AnswerRow(0, f"w{worker}", f"q{number}", "no" if number in (5, 6) and not worker else "yes")
        for worker in range(workers)
        for number in range(20)
    ]
    record_valid_answers(run, validate_answers(run, rows))


def line_of(run: Run, key: str) -> GoldLine:
    return next(line for line in gold_health(run.question_set) if line.question.key == key)


def test_answers_that_wait_show_a_wrong_key():
    run = run_with_wrong_key(8)
    import_answers(run, 8)
    lines = gold_health(run.question_set)
    assert len(lines) == 20
    assert lines[0].question.key == "q3"
    assert lines[0].every == RightShare(0, 8)
    assert SELDOM in lines[0].flags
    assert (lines[0].other, lines[0].given_by_all, lines[0].suggested) == ("yes", 8, True)


def test_three_wrong_answers_mark_a_question_and_suggest_nothing():
    run = run_with_wrong_key(3)
    import_answers(run, 3)
    line = line_of(run, "q3")
    assert gold_health(run.question_set)[0] == line
    assert line.every.label == "0 of 3, interval 0–71%"
    assert SELDOM in line.flags
    assert not line.suggested


def test_few_wrong_answers_do_not_contradict_a_correct_key():
    run = run_with_wrong_key(3)
    import_answers(run, 3)
    line = line_of(run, "q5")
    assert (line.every, line.other) == (RightShare(2, 3), "no")
    assert not line.flags
    assert not line.suggested


@pytest.mark.parametrize(
    ("right", "answers", "lower", "upper"),
    [(0, 3, 0.0, 0.7076), (3, 3, 0.2924, 1.0), (5, 10, 0.1871, 0.8129)],
)
def test_the_exact_interval_is_as_published(right, answers, lower, upper):
    """Clopper and Pearson (1934); 5 of 10 as in R's binom.test."""
    assert RightShare(right, answers).exact() == pytest.approx((lower, upper), abs=5e-5)


@pytest.mark.parametrize(
    ("other", "accepted", "strong"),
    [(5, 0, False), (6, 0, True), (7, 1, False), (9, 1, True), (0, 0, False)],
)
def test_different_key_is_suggested_only_on_strong_evidence(other, accepted, strong):
    run = make_run(n=2, k=1, questions=1, slots=1)
    engine.advance(run.pk)
    recording.record_answer(open_of(run)[0].pk, "no")
    (line,) = gold_health(run.question_set)
    made = GoldLine(
        line.question,
        0,
        RightShare(accepted, other + accepted),
        RightShare(0, 0),
        RightShare(0, 0),
        None,
        (),
        "no",
        0,
        other,
    )
    assert made.suggested == strong
