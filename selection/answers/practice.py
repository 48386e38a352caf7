"""Answers to practice questions, in runs and in watches."""

from selection import db_clock
from selection.facts import Facts
from selection.models import PracticeAnswer

from .recording import outside_choices, refuse_response


def record_try(row: PracticeAnswer, response: str) -> Facts:
    """Record a response in the row of a worker, which the caller has locked.

    Raises Refused and OutsideChoices as for gold. ``left`` of the result counts the wrong tries.
    """
    practice = row.practice
    refuse_response(response)
    if not practice.allows(response):
        raise outside_choices(practice.choices, response, practice.kind)
    if not row.done:
        row.response, row.right = response, practice.grade(response)
        row.done, row.tries = row.right or not practice.required, row.tries + (not row.right)
        row.at = db_clock.database_now()
        row.save()
    return Facts(practice=practice, right=row.right, done=row.done, left=_tries_left(row))


def _tries_left(row: PracticeAnswer) -> int | None:
    """Count the wrong tries left; a worker that is readmitted gets the full number again."""
    most = row.practice.question_set.tries
    if row.done or most is None:
        return None
    return (most - row.tries % most) % most
