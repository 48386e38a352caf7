"""Practice questions: asked before the first gold question, explained, and never counted."""

from django.db import transaction
from django.db.models import QuerySet

from selection.answers.practice import record_try
from selection.answers.recording import NO_TEXT
from selection.errors import Conflict, NotFound, Refused
from selection.facts import Facts
from selection.imports.rows import refuse_gold
from selection.models import Candidate, Practice, PracticeAnswer, QuestionSet, Run


def pending_practice(question_set: QuestionSet, run: Run, worker: int) -> Practice | None:
    answers = _rows_of_worker(run.pk, worker).filter(done=True).values("practice")
    return Practice.objects.filter(question_set=question_set).exclude(pk__in=answers).first()


def done_by(candidate_id: int) -> "QuerySet[PracticeAnswer]":
    """Select the practice that this candidate's worker has done, in all skills."""
    candidate = Candidate.objects.only("run", "worker").get(pk=candidate_id)
    return _rows_of_worker(candidate.run_id, candidate.worker_id).filter(done=True)


def _rows_of_worker(run_id: int, worker_id: int) -> "QuerySet[PracticeAnswer]":
    return PracticeAnswer.objects.filter(candidate__run=run_id, candidate__worker=worker_id)


def store_practice(practice: Practice) -> None:
    refuse_gold(practice)
    if NO_TEXT.search(practice.explanation):
        raise Refused("There is a character in the explanation that cannot be read.")
    practice.save()


@transaction.atomic
def answer_practice(candidate_id: int, practice_id: int, response: str) -> Facts:
    """Record an answer to a practice question; one that is done already stays as it is.

    Raises NotFound for a question that this worker is not given, Refused and OutsideChoices as for
    gold, Conflict when the run has ended or the worker is out of it.
    """
    # Locked, so that answers from two tabs are taken one after the other.
    candidates = Candidate.objects.select_for_update(no_key=True, of=("self",)).select_related(
        "run"
    )
    candidate = candidates.filter(pk=candidate_id).first()
    practice = Practice.objects.select_related("question_set").filter(pk=practice_id).first()
    if candidate is None or practice is None or not _is_asked(candidate.run, practice):
        raise NotFound("There is no such practice question.")
    if candidate.run.status == Run.Status.ENDED or candidate.gone:
        raise Conflict("This run asks you no more questions.")
    return record_try(_practice_row(candidate, practice), response)


def _is_asked(run: Run, practice: Practice) -> bool:
    return any(skill.question_set_id == practice.question_set_id for skill in run.skills)


def _practice_row(candidate: Candidate, practice: Practice) -> PracticeAnswer:
    """Find the worker's row, shared by all skills; a new one is not stored yet."""
    rows = _rows_of_worker(candidate.run_id, candidate.worker_id).filter(practice=practice)
    new = PracticeAnswer(candidate=candidate, practice=practice, right=False, done=False)
    return rows.first() or new
