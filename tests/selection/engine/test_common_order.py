"""Runs with one order of questions for all models: the algorithm same-questions, to the result."""

import numpy as np
import pytest

from selection import engine, exports, forecast, reports
from selection.errors import Conflict, Refused
from selection.imports import validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Assignment, Endpoint, Question, Run, Worker
from selection.questions import corrections
from selection.runs import changes, lifecycle, replacement
from selection.runs.roster import membership, roster_opening
from selection.runs.settings import drafts, validation
from tests.selection.model_workers.conftest import make_model_run
from tests.worlds import answer_all, make_questions, open_of, play

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

NAME, ON_SET = "same-questions", {"accuracy": "on this question set"}
LEVELS = (0.95, 0.9, 0.5, 0.45, 0.4, 0.3)


def alike(assignment: Assignment) -> str:
    """Answer as models that fail on the same questions: hard ones are hard for all."""
    hardness = np.random.default_rng([5, assignment.question.number]).random()
    return "yes" if hardness < LEVELS[int(assignment.candidate.worker.key[1:])] else "no"


def make_run(start: bool = True, **fields: object) -> Run:
    values = {"algorithm": NAME, "k": 2, "epsilon": 0.2, "slots": 40, "slots_per_worker": 10}
    return make_model_run("http://127.0.0.1:9/v1", start=start, **values | fields)


def questions_by_worker(run: Run) -> list[list[int]]:
    rows = Assignment.objects.filter(candidate__run=run).order_by("candidate__arm", "position")
    table: dict[int, list[int]] = {}
    for arm, number in rows.values_list("candidate__arm", "question__number"):
        table.setdefault(arm, []).append(number)
    return list(table.values())


def retire(run: Run, number: int) -> Question:
    question = run.question_set.questions.get(number=number)
    corrections.retire_question(question, "ada", "ambiguous")
    run.refresh_from_db()
    return question


def assert_verified(run: Run) -> None:
    run.refresh_from_db()
    verification = reports.verify_dump(reports.dump_run(run))
    assert [str(finding) for finding in verification.findings] == []


def selected(run: Run) -> list[str]:
    return sorted(line.worker for line in reports.worker_standings(run) if line.selected)


@pytest.mark.parametrize("options", [{}, ON_SET])
def test_models_meet_one_order_and_the_best_are_selected(options):
    run = play(make_run(options=options), alike)
    assert run.ending == Run.Ending.PROMISE
    assert selected(run) == ["w0", "w1"]
    decks = questions_by_worker(run)
    longest = max(decks, key=len)
    assert all(deck == longest[: len(deck)] for deck in decks)
    assert_verified(run)
    document = reports.export_run(run)
    measure = "accuracy on this set of 200 questions" if options else "true accuracy"
    assert f"every worker selected is, in {measure}, within 0.2 of the 2nd best" in str(document)
    assert not document["warnings"]
