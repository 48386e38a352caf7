"""Workers that block a run which has nothing else to do, and the end of their time."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min, QuerySet

from selection.answers import grace_period
from selection.answers.grace_period import GracePeriod
from selection.facts import Facts
from selection.models import Assignment, Run
from selection.texts import count_noun

from .durations import format_duration

# Shorter waits are not reported, nor is the first half of the grace period.
LEAST = timedelta(seconds=20)
MOST_NAMED = 5


def describe_waiting(run: Run, moved: timedelta, now: datetime) -> str:
    """Describe the workers a run waits for, if more could be handed out; else "".

    moved  time since the last step
    """
    if moved < LEAST:
        return ""
    open_assignments = Assignment.objects.open().filter(candidate__run=run).order_by()
    if not 0 < open_assignments.count() < run.slots:
        return ""
    wait = grace_period.current_wait(run, now)
    if wait.lasted < max(LEAST, wait.most / 2):
        return ""
    # The next sweep at the latest has dealt to every worker that the budget allows.
    over = wait.lasted > wait.most + timedelta(seconds=settings.SWEEP_SECONDS)
    nobody_else = over or not run.affords_more
    blocking = _blocking_workers(open_assignments)  # may be empty: answers came in the meantime
    return _waiting_sentence(blocking, wait, now, nobody_else) if blocking.size else ""


def _blocking_workers(open_assignments: QuerySet[Assignment]) -> Facts:
    """Count and name the workers; ``due`` is None if no question was shown."""
    keys = open_assignments.order_by("candidate__worker__key").values_list(
        "candidate__worker__key", flat=True
    )
    keys = keys.distinct()
    names, size = list(keys[:MOST_NAMED]), keys.count()
    due = open_assignments.aggregate(first=Min("due"))["first"]
    last = names.pop() if names and size <= MOST_NAMED else ""
    last = last or count_noun(size - MOST_NAMED, "other worker")
    return Facts(size=size, due=due, label=" and ".join(filter(None, (", ".join(names), last))))


def _waiting_sentence(blocking: Facts, wait: GracePeriod, now: datetime, nobody_else: bool) -> str:
    last = "" if blocking.size == 1 else "last "
    sentence = f"Waiting for {blocking.label} ({last}asked {_round_to_tens(wait.lasted)} ago)."
    if not nobody_else:
        then = f"In {_round_to_tens(wait.remaining)}" if wait.remaining else "In a moment"
        return f"{sentence} {then} the run moves on to other workers, if their answers help."
    sentence += " The run has no other worker to ask."
    if blocking.due is None:
        return f"{sentence} No question has been opened: withdraw workers that will not come."
    remainder = max(blocking.due - now, timedelta())
    return (
        f"{sentence} A question not answered in time counts as wrong, the first in "
        f"{_round_to_tens(remainder)}."
    )


def _round_to_tens(span: timedelta) -> str:
    """Round a short span to tens of seconds, so that a page does not change at every look."""
    short = span < timedelta(minutes=2)
    return format_duration(timedelta(seconds=max(10, span.seconds // 10 * 10)) if short else span)
