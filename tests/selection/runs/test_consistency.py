"""The recount: each law is broken by hand once, detected, and repaired if counting can."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from packages.topk.tests.parameters import mostly_slow
from selection import engine
from selection.models import Answer, Assignment, Candidate, Event, RecordedAnswer, Run, Skill, Step
from selection.questions import corrections
from selection.runs import consistency, lifecycle
from selection.runs.roster import membership
from tests.worlds import answer_all, crowd, make_questions, make_run

pytestmark = pytest.mark.django_db
ENDING = ["lucb", "credible", "certified", "adaptive-top-k", "sar"]


def make_running(steps: int = 4, **fields: object) -> Run:
    run = make_run(**fields)
    for _ in range(steps):
        engine.advance(run.pk)
        answer_all(run, crowd(2, good=2))
    engine.advance(run.pk)
    run.refresh_from_db()
    return run


def broken_laws(run: Run) -> set[str]:
    run.refresh_from_db()
    return {fault.law for fault in consistency.find_faults(run)}


def first_candidate(run: Run) -> Candidate:
    return run.candidates.filter(pulls__gt=1).order_by("arm")[0]


def answers_of_first(run: Run):
    return Answer.objects.filter(assignment__candidate=first_candidate(run)).order_by(
        "assignment__position"
    )


def set_columns(run: Run, **columns: object) -> None:
    Candidate.objects.filter(pk=first_candidate(run).pk).update(**columns)


def skip_one(run: Run) -> None:
    answer = answers_of_first(run)[0]
    Answer.objects.filter(pk=answer.pk).update(applied_in=None)


def lose_one(run: Run) -> None:
    answers_of_first(run)[0].assignment.delete()


def flip_one(run: Run) -> None:
    answer = answers_of_first(run)[0]
    Answer.objects.filter(pk=answer.pk).update(right=not answer.right)


def move_one(run: Run) -> None:
    Answer.objects.filter(pk=answers_of_first(run)[0].pk).update(run=make_run(start=False))


def count_one_early(run: Run) -> None:
    Answer.objects.filter(pk=answers_of_first(run)[0].pk).update(applied_in=999)


def hide_one(run: Run) -> None:
    answer = answers_of_first(run)[0]
    Answer.objects.filter(pk=answer.pk).update(expired=True)
    Assignment.objects.filter(pk=answer.pk).update(shown=None)


def overspend(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(budget=3)


def record_asked_question(run: Run) -> None:
    asked = answers_of_first(run)[0].assignment
    RecordedAnswer.objects.create(
        candidate=asked.candidate, question=asked.question, response="yes"
    )


BREAKS: dict[str, tuple[Callable[[Run], object], set[str]]] = {
    "asked": (lambda run: set_columns(run, asked=F("asked") + 1), {"asked"}),
    "pulls": (lambda run: set_columns(run, pulls=F("pulls") - 1), {"pulls"}),
    "void": (lambda run: set_columns(run, void=F("void") + 1), {"void"}),
    "rewards": (lambda run: set_columns(run, rewards=F("rewards") + 1), {"rewards"}),
    "order": (skip_one, {"pulls", "order"}),
    "gaps": (lose_one, {"asked", "pulls", "gaps", "order"}),
    "grades": (flip_one, {"rewards", "grades"}),
    "strays": (move_one, {"strays"}),
    "waiting": (record_asked_question, {"waiting"}),
    "future": (count_one_early, {"future"}),
    "unseen": (hide_one, {"unseen"}),
    "steps": (lambda run: Step.objects.filter(run=run, number=2).delete(), {"steps"}),
    "budget": (overspend, {"budget"}),
}


@pytest.mark.parametrize("broken", BREAKS)
def test_broken_law_is_found(broken):
    run = make_running()
    assert broken_laws(run) == set()
    how, wanted = BREAKS[broken]
    how(run)
    assert broken in broken_laws(run)
    assert broken_laws(run) - wanted <= {"rewards"}  # depends on the answer being right


def test_a_question_that_a_worker_meets_again_in_another_skill_is_seen():
    run = make_run(algorithm="multi-sar", budget=240, start=False)
    Skill.objects.create(run=run, number=1, question_set=make_questions(50), k=2)
    lifecycle.start_run(run)
    engine.advance(run.pk)
    assert broken_laws(run) == set()
    met = Assignment.objects.filter(candidate__run=run, candidate__skill=0)[0]
    other = run.candidates.get(worker=met.candidate.worker, skill=1).assignments.get(position=0)
    Assignment.objects.filter(pk=other.pk).update(question=met.question)
    assert broken_laws(run) == {"twice"}


@pytest.mark.both_databases
@pytest.mark.skipif(connection.vendor == "sqlite", reason="it locks the whole file")
def test_check_locks_the_run_against_steps():
    run = make_running()
    with CaptureQueriesContext(connection) as asked:
        assert consistency.check_run(run) == []
    assert "FOR NO KEY UPDATE" in asked[1]["sql"]
    assert "selection_run" in asked[1]["sql"]


@pytest.mark.parametrize("algorithm", mostly_slow(ENDING, ("certified", "sar")))
def test_a_run_that_ends_holds(algorithm):
    budget = {"budget": 120} if algorithm == "sar" else {}
    run = make_running(steps=60, algorithm=algorithm, epsilon=0.4, **budget)
    assert broken_laws(run) == set()


def test_an_end_without_enough_workers_is_seen():
    run = make_running(steps=60, algorithm="lucb", epsilon=0.5)
    assert run.ended_by_guarantee
    one = run.candidates.filter(verdict=Candidate.Verdicts.ACCEPTED)[0]
    Candidate.objects.filter(pk=one.pk).update(verdict=Candidate.Verdicts.REJECTED)
    assert broken_laws(run) == {"selection"}


@pytest.mark.parametrize("broken", ["asked", "pulls", "void", "rewards"])
def test_wrong_counts_are_repaired_and_logged(broken):
    run = make_running()
    right = list(run.candidates.order_by("arm").values("asked", "pulls", "void", "rewards"))
    BREAKS[broken][0](run)
    assert consistency.repair_run(run, "eve") == []
    assert list(run.candidates.order_by("arm").values("asked", "pulls", "void", "rewards")) == right
    (event,) = Event.objects.filter(run=run, kind="recount")
    assert event.who == "eve"
    assert first_candidate(run).worker.key in event.what
    assert engine.advance(run.pk) is None or broken_laws(run) == set()


def test_an_answer_that_is_not_graded_as_its_question_says_is_graded_anew():
    run = make_running()
    before = Answer.objects.get(pk=answers_of_first(run)[0].pk)
    flip_one(run)
    assert consistency.repair_run(run) == []
    assert Answer.objects.get(pk=before.pk).right == before.right


def test_a_run_that_an_answer_waits_in_vain_in_takes_steps_again():
    run = make_running()
    record_asked_question(run)
    Run.objects.filter(pk=run.pk).update(has_recorded=True)
    assert consistency.repair_run(run) == []
    answer_all(run, crowd(2, good=2))
    assert engine.advance(run.pk)


def test_sound_run_is_left_unchanged():
    run = make_running()
    before = Run.objects.filter(pk=run.pk).values().get()
    assert consistency.repair_run(run) == []
    assert Run.objects.filter(pk=run.pk).values().get() == before
    assert not Event.objects.filter(kind="recount").exists()


def call_recount(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("recount", *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue() + str(error)
    return 0, out.getvalue()


def test_the_command_looks_at_all_and_mends_where_told():
    whole, broken = make_running(), make_running()
    make_run(start=False)
    set_columns(broken, pulls=F("pulls") + 1)
    code, said = call_recount()
    assert code == 1
    assert f"“{whole}”: all holds." in said
    assert "Answers counted differ from the stored values" in said
    assert call_recount(str(whole.pk))[0] == 0
    code, said = call_recount(str(broken.pk), "--repair")
    assert (code, "all mended" in said) == (0, True)
    assert call_recount()[0] == 0
    assert "There is no run “12345”." in call_recount("12345")[1]


def test_a_run_with_a_retired_question_a_pause_and_a_leaver_holds():
    run = make_running()
    lifecycle.pause_run(run)
    lifecycle.resume_run(run)
    question = Assignment.objects.filter(candidate__run=run).first().question
    corrections.retire_question(question, "eve", "it was unclear")
    membership.withdraw_workers(run, ["w5"], "eve", "asked to")
    engine.advance(run.pk)
    assert broken_laws(run) == set()
