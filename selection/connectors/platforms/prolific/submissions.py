"""Submissions of a study: their states, and the approval of those with the right code."""

from collections.abc import Iterator, Mapping
from typing import Any

from selection.connectors.connector import OutsideSubmission
from selection.connectors.faults import Missing, Rejected
from selection.models import Answer, OutsideWorker, RunConnection
from selection.runs import worker_texts
from selection.texts import counted

from .session import Session

AWAITING, APPROVED = "AWAITING REVIEW", "APPROVED"
AT_ONCE = 20  # approvals of a call


def read_submissions(session: Session) -> dict[str, dict[str, Any]]:
    study = session.memory.get("study")
    rows = list(session.list(f"studies/{study}/submissions/")) if study else []
    rows.sort(key=lambda row: row.get("started_at") or "")
    return {row["participant_id"]: row for row in rows}


def take_states(
    link: RunConnection, rows: Mapping[str, Mapping[str, Any]]
) -> Iterator[OutsideSubmission]:
    """Yield the submissions whose state is new, then note the states."""
    users = {one.worker.key: one for one in link.workers.select_related("worker")}
    ours = dict(
        link.run.candidates.filter(skill=0, worker__key__in=list(rows)).values_list(
            "worker__key", "worker_id"
        )
    )
    states = {
        key: {"status": row["status"], "code": row.get("study_code") or ""}
        for key, row in rows.items()
        if key in ours
    }
    new = {
        key: state
        for key, state in states.items()
        if key not in users or (users[key].notes, users[key].outside_id) != (state, rows[key]["id"])
    }
    for key, state in new.items():
        yield OutsideSubmission(link, key, state["status"], rows[key]["id"])
    for key, state in new.items():
        note_state(link, ours[key], rows[key]["id"], state)


def note_state(link: RunConnection, worker: int, submission: str, state: Mapping[str, str]) -> None:
    values = {"outside_id": submission, "notes": dict(state)}
    OutsideWorker.objects.update_or_create(link=link, worker_id=worker, defaults=values)


def approvable(link: RunConnection) -> list[str]:
    """List submissions that await a review, with the code for all questions and an answer here.

    Everything else is left for a person to review; nothing is ever rejected.
    """
    if not link.settings.get("approve"):
        return []
    code = worker_texts.completion_code(link.run, "done")
    rows = [
        (one.worker_id, one.outside_id)
        for one in link.workers.all()
        if one.notes.get("status") == AWAITING and one.notes.get("code") == code
    ]
    answers = Answer.objects.filter(assignment__candidate__run=link.run_id)
    workers = answers.filter(assignment__candidate__worker__in=[worker for worker, _ in rows])
    answered = set(workers.values_list("assignment__candidate__worker_id", flat=True))
    return sorted(number for worker, number in rows if worker in answered)[:AT_ONCE]


def approve(session: Session, numbers: list[str]) -> str:
    """Approve these submissions, unless their state has changed; return a sentence.

    A refused one does not stop the others: Rejected is raised after all of them.
    """
    statuses, refusal = [], None
    for number in numbers:
        try:
            statuses.append(_approve_one(session, number))
        except Rejected as fault:
            refusal = fault
    if refusal is not None:
        raise refusal
    return f"{counted(statuses.count(APPROVED), 'submission')} approved."


def _approve_one(session: Session, number: str) -> str:
    """Approve a submission that awaits a review in the run's study; return its state, noted here.

    The number may come from a message about another study of the worker.
    """
    try:
        submission = session.get(f"submissions/{number}/")
    except Missing:
        submission = {}
    ours = submission.get("study_id") == session.memory.get("study")
    status = submission["status"] if ours else ""
    if status == AWAITING:
        session.write("POST", f"submissions/{number}/transition/", {"action": "APPROVE"})
        status = APPROVED
    if session.planned is None:
        _note_status(session.link, number, status)
    return status


def _note_status(link: RunConnection, number: str, status: str) -> None:
    for row in link.workers.filter(outside_id=number):
        row.notes = {**row.notes, "status": status}
        row.save(update_fields=["notes"])
