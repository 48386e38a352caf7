"""Break each law by hand once: the checker must notice it."""

from collections.abc import Callable

import httpx
import pytest

from selection import engine
from selection.answers import presence, recording
from selection.models import Answer, Candidate, Run
from tests.worlds import make_run, open_of

from . import laws
from .kinds import KINDS
from .traffic import SILENT, Ledger

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    new_run = make_run()
    engine.advance(new_run.pk)
    return new_run


@pytest.fixture
def ledger(run) -> Ledger:
    """Answer as all workers except one; all answers were taken."""
    record = Ledger(runs=[run.pk])
    rows = open_of(run)
    presence.record_shown(run, [row.pk for row in rows])
    for row in rows[1:]:
        record.sent[row.pk], record.workers[row.pk] = "yes", row.candidate.worker.key
        recording.record_answer(row.pk, "yes")
        record.note(row.pk, httpx.Response(201))
    engine.advance(run.pk)
    return record


def words(run: Run, ledger: Ledger) -> str:
    return "\n".join([*laws.of_ledger(ledger), *laws.of_run(run.pk)])


def test_sound_run_has_no_complaint(run, ledger):
    assert words(run, ledger) == ""


def lose(run: Run, ledger: Ledger) -> None:
    Answer.objects.filter(pk=min(ledger.taken)).delete()


def change(run: Run, ledger: Ledger) -> None:
    Answer.objects.filter(pk=min(ledger.taken)).update(response="no")


def make_up(run: Run, ledger: Ledger) -> None:
    recording.record_answer(open_of(run)[0].pk, "yes")


def close(run: Run, ledger: Ledger) -> None:
    row = next(row for row in open_of(run) if row.candidate.worker.key != SILENT)
    Answer.objects.create(assignment=row, run=run, right=False, expired=True, at=run.started)


def refuse(run: Run, ledger: Ledger) -> None:
    one = min(pk for pk in ledger.taken if ledger.workers[pk] != SILENT)
    ledger.note(one, httpx.Response(409, text="Too late: the time to answer was up."))


def fail(run: Run, ledger: Ledger) -> None:
    ledger.note(min(ledger.taken), httpx.Response(404, text="There is no such assignment."))


def decide(run: Run, ledger: Ledger) -> None:
    row = run.candidates.filter(verdict=0).order_by("arm")[0]
    Candidate.objects.filter(pk=row.pk).update(verdict=1)


def count_twice(run: Run, ledger: Ledger) -> None:
    row = run.candidates.filter(pulls__gt=0).order_by("arm")[0]
    Candidate.objects.filter(pk=row.pk).update(pulls=row.pulls + 1)


BREAKS: dict[str, tuple[Callable[[Run, Ledger], None], str]] = {
    "lost": (lose, "is lost"),
    "changed": (change, "is 'no' and not 'yes'"),
    "made up": (make_up, "made up: "),
    "closed unfairly": (close, "late: "),
    "refused unfairly": (refuse, "late: "),
    "odd": (fail, "odd: answer to"),
    "verdict": (decide, "run "),
    "tally": (count_twice, "pulls: "),
}


@pytest.mark.parametrize("law", BREAKS)
def test_broken_law_is_reported(run, ledger, law):
    how, said = BREAKS[law]
    how(run, ledger)
    assert said in words(run, ledger)


def test_a_silent_worker_may_be_late(run, ledger):
    one = min(pk for pk in ledger.taken if ledger.workers[pk] != SILENT)
    ledger.workers[one] = SILENT
    ledger.note(one, httpx.Response(409, text="Too late: the time to answer was up."))
    assert "late" not in words(run, ledger)


def test_a_run_that_does_not_end_is_seen(run):
    assert "is running" in laws.of_end([run.pk])[0]
    Run.objects.update(status=Run.Status.ENDED)
    assert laws.of_end([run.pk]) == []


def test_fault_names_are_unique():
    assert len({(kind.name, kind.where) for kind in KINDS}) == len(KINDS)
