"""What workers say is wrong with a question."""

from django.db.models import QuerySet
from django.utils import timezone

from selection.answers.recording import NO_TEXT
from selection.errors import NotFound, Refused
from selection.limits import LONGEST_COMPLAINT
from selection.models import Assignment, Candidate, Complaint, Question, Run


def report_problem(assignment_id: int, candidate_id: int, text: str) -> None:
    """The worker of this candidate says that the question is broken; what they said before goes.

    Raises NotFound for a question that was not theirs, Refused without words.
    """
    text = text.strip()
    if not text or len(text) > LONGEST_COMPLAINT or NO_TEXT.search(text):
        raise Refused(f"Say in 1 to {LONGEST_COMPLAINT} characters what is wrong.")
    own = Candidate.objects.filter(pk=candidate_id).values("run_id", "worker_id").first()
    if own is None:
        raise NotFound("There is no such assignment.")
    mine = Candidate.objects.filter(run=own["run_id"], worker=own["worker_id"])
    shown = Assignment.objects.filter(pk=assignment_id, candidate__in=mine).exclude(shown=None)
    if not shown.exists():
        raise NotFound("There is no such assignment.")
    said = {"text": text, "at": timezone.now(), "heard": None}
    Complaint.objects.update_or_create(assignment_id=assignment_id, defaults=said)


def open_reports(run: Run) -> QuerySet[Complaint]:
    """About questions that are still asked."""
    return Complaint.objects.filter(
        assignment__candidate__run=run, assignment__question__retired=None, heard=None
    )


def reports_about(question: Question) -> QuerySet[Complaint]:
    """All, the newest first.

    By way of the candidates: no index leads from a question to its assignments.
    """
    rows = Complaint.objects.filter(assignment__question=question)
    return rows.select_related("assignment__candidate__worker", "assignment__candidate__run")


def acknowledge_reports(question: Question) -> int:
    """The requester has seen to what was said of this question; how much that was."""
    rows = Complaint.objects.filter(assignment__question=question, heard=None)
    return rows.update(heard=timezone.now())
