"""No-shows: a run waits for all of them once, and the others go on."""

from datetime import timedelta

import pytest
from django.db.models import F

from selection import engine
from selection.answers import grace_period, presence
from selection.imports.row_parsers import AnswerRow
from selection.imports.validate_answers import record_valid_answers, validate_answers
from selection.models import Answer, Assignment, Candidate, Run, Step
from selection.runs import changes
from selection.runs.roster import membership
from tests.worlds import crowd, make_run, open_of

pytestmark = pytest.mark.django_db

NO_SHOWS = {"w5", "w6", "w7", "w8"}


def let_pass(run: Run, seconds: float) -> None:
    """Move all that the run remembers so many seconds into the past."""
    ago = timedelta(seconds=seconds)
    Run.objects.filter(pk=run.pk).update(
        absence_since=F("absence_since") - ago, started=F("started") - ago
    )
    Step.objects.filter(run=run).update(at=F("at") - ago)
    Answer.objects.filter(run=run).update(at=F("at") - ago)
    Candidate.objects.filter(run=run).update(seen=F("seen") - ago)
    Assignment.objects.filter(candidate__run=run).update(shown=F("shown") - ago)


def imported(**fields: object) -> Run:
    """A run of nine workers that asks through pages: five answered elsewhere, four never come."""
    values: dict[str, object] = {"n": 9, "k": 3, "questions": 40, "minutes": 2, "epsilon": 0.1}
    values |= {"algorithm": "credible", "slots": 12, "slots_per_worker": 2, "seed": 5}
    run = make_run(**values | fields)
    engine.advance(run.pk)
    respond = crowd(2, good=4, high=0.9, low=0.5)
    rows = [
        AnswerRow(line, key, f"q{number}", _response(run, key, number, respond))
        for line, (key, number) in enumerate(
            (row.worker.key, number)
            for row in run.candidates.select_related("worker")
            if row.worker.key not in NO_SHOWS
            for number in range(40)
        )
    ]
    run.refresh_from_db()
    sorting = validate_answers(run, rows)
    assert not sorting.problems
    record_valid_answers(run, sorting)
    return Run.objects.get(pk=run.pk)


def _response(run: Run, key: str, number: int, respond) -> str:
    candidate = run.candidates.select_related("worker").get(worker__key=key)
    question = run.question_set.questions.get(number=number)
    return respond(Assignment(candidate=candidate, question=question)) or ""


def waited(run: Run, most_rounds: int = 200) -> float:
    """Advance until nothing more can come of it; return the seconds spent on waiting."""
    total = 0.0
    for _ in range(most_rounds):
        step = engine.advance(run.pk)
        run.refresh_from_db()
        if run.status == Run.Status.ENDED:
            return total
        if step is not None:
            continue
        left = grace_period.seconds_left(run)
        if not left:
            return total
        total += left
        let_pass(run, left + 1)
    pytest.fail("The run came to no rest.")


def test_no_shows_cost_one_wait_in_total():
    run = imported()
    assert waited(run) <= 60 * run.minutes
    counted = run.candidates.exclude(worker__key__in=NO_SHOWS).values_list("pulls", flat=True)
    assert max(counted) > 10  # the others went on
    assert not run.candidates.filter(worker__key__in=NO_SHOWS, pulls__gt=0).exists()


def test_present_worker_is_awaited_as_before():
    run = make_run(n=4, k=1, minutes=2, algorithm="credible", slots=8, slots_per_worker=2)
    engine.advance(run.pk)
    let_pass(run, 600)
    presence.record_shown(run, [open_of(run)[0].pk])
    assert grace_period.seconds_left(run) > 100


def test_a_waiting_answer_is_presence():
    run = imported(hours_to_come=1)
    let_pass(run, 7200)
    assert membership.sweep_absent() == [run.pk]
    absent = set(run.candidates.filter(gone="absent").values_list("worker__key", flat=True))
    assert absent == NO_SHOWS


def test_a_run_that_asks_through_pages_is_switched_to_answers_made_elsewhere():
    run = imported()
    held = [one for one in open_of(run) if one.candidate.worker.key in NO_SHOWS]
    presence.record_shown(run, [held[0].pk])
    changes.use_recorded_only(run, "ada")
    for _ in range(100):
        if engine.advance(run.pk) is None:
            break
    run.refresh_from_db()
    assert run.recorded_only
    assert [one.pk for one in open_of(run)] == [held[0].pk]  # seen questions may still be answered
    assert run.events.filter(kind="recorded only", who="ada").count() == 1
