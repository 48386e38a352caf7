"""Problem reports of workers about questions."""

from django.db.models import QuerySet

from selection import db_clock
from selection.answers.recording import NO_TEXT
from selection.errors import NotFound, Refused
from selection.limits import LONGEST_REPORT
from selection.models import Assignment, Candidate, Question, QuestionReport, Run


def report_problem(assignment_id: int, candidate_id: int, text: str) -> None:
    """Store the worker's report on a question, in place of their earlier one.

    Raises NotFound for a question that they were not shown, Refused for an empty or overlong text.
    """
    text = text.strip()
    if not text or len(text) > LONGEST_REPORT or NO_TEXT.search(text):
        raise Refused(f"Describe the problem in 1 to {LONGEST_REPORT} characters.")
    candidate = Candidate.objects.filter(pk=candidate_id).values("run_id", "worker_id").first()
    if candidate is None:
        raise NotFound("This assignment does not exist.")
    candidates = Candidate.objects.filter(run=candidate["run_id"], worker=candidate["worker_id"])
    assignments = Assignment.objects.filter(pk=assignment_id, candidate__in=candidates).exclude(
        shown=None
    )
    if not assignments.exists():
        raise NotFound("This assignment does not exist.")
    report = {"text": text, "at": db_clock.database_now(), "heard": None}
    QuestionReport.objects.update_or_create(assignment_id=assignment_id, defaults=report)


def open_reports(run: Run) -> QuerySet[QuestionReport]:
    """List the unacknowledged reports about questions that are still asked."""
    return QuestionReport.objects.filter(
        assignment__candidate__run=run, assignment__question__retired=None, heard=None
    )


def reports_about(question: Question) -> QuerySet[QuestionReport]:
    """List all reports about the question, newest first.

    By way of the candidates: no index leads from a question to its assignments.
    """
    rows = QuestionReport.objects.filter(assignment__question=question)
    return rows.select_related("assignment__candidate__worker", "assignment__candidate__run")


def acknowledge_reports(question: Question) -> int:
    """Mark the open reports about this question as acknowledged; return their number."""
    rows = QuestionReport.objects.filter(assignment__question=question, heard=None)
    return rows.update(heard=db_clock.database_now())
