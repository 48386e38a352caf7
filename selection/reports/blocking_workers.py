"""Whom a run waits for that has nothing else to do, and until when."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min, QuerySet

from selection.answers import grace_period
from selection.answers.grace_period import GracePeriod
from selection.models import Assignment, Run

from .durations import count_noun, format_duration

# Shorter is not worth a word, nor is what is not yet half as long as the others wait in all.
LEAST = timedelta(seconds=20)
MOST_NAMED = 5


@dataclass(frozen=True)
class BlockingWorkers:
    """Those who hold all that is out.

    names  of some of them, and how many they are
    due    when the first of their questions is closed; None where none was looked at
    """

    names: list[str]
    size: int
    due: datetime | None

    @property
    def who(self) -> str:
        if self.size > MOST_NAMED:
            return (
                f"{', '.join(self.names)} and {count_noun(self.size - MOST_NAMED, 'other worker')}"
            )
        return " and ".join(filter(None, (", ".join(self.names[:-1]), self.names[-1])))


def describe_waiting(run: Run, moved: timedelta, now: datetime) -> str:
    """In words, whom it waits for, where more could be out and nobody gets it; else nothing.

    moved  how long ago the last step was
    """
    if moved < LEAST:
        return ""
    out = Assignment.objects.open().filter(candidate__run=run).order_by()
    if not 0 < out.count() < run.slots:
        return ""
    wait = grace_period.current_wait(run, now)
    if wait.lasted < max(LEAST, wait.most / 2):
        return ""
    # By then the next sweep, at the latest, has asked whom there is to ask and to pay.
    over = wait.lasted > wait.most + timedelta(seconds=settings.SWEEP_SECONDS)
    nobody = over or not run.affords_more
    held = _blocking_workers(out)  # by now they may have answered
    return _waiting_sentence(held, wait, now, nobody) if held.names else ""


def _blocking_workers(out: QuerySet[Assignment]) -> BlockingWorkers:
    keys = out.order_by("candidate__worker__key").values_list("candidate__worker__key", flat=True)
    keys = keys.distinct()
    return BlockingWorkers(
        list(keys[:MOST_NAMED]), keys.count(), out.aggregate(first=Min("due"))["first"]
    )


def _waiting_sentence(held: BlockingWorkers, wait: GracePeriod, now: datetime, nobody: bool) -> str:
    asked = "asked" if held.size == 1 else "the last of whom was asked"
    words = f"It waits for {held.who}, {asked} {_round_to_tens(wait.lasted)} ago"
    if not nobody:
        then = f"in {_round_to_tens(wait.remaining)}" if wait.remaining else "in a moment"
        return f"{words}: others are asked {then}, if answers of theirs are of use."
    words += ", and there is nobody else to ask."
    if held.due is None:
        return f"{words} None of them has looked at it: withdraw whoever will not come."
    left = max(held.due - now, timedelta())
    return f"{words} What is not answered in time counts as not right, the first in {_round_to_tens(left)}."


def _round_to_tens(span: timedelta) -> str:
    """In tens of seconds where it is short: a page is not to change at every look."""
    short = span < timedelta(minutes=2)
    return format_duration(timedelta(seconds=max(10, span.seconds // 10 * 10)) if short else span)
