"""Answers that were given and do not count, by reason."""

from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count

from selection.models import Run, UncountedAnswer
from selection.models.answers import is_given

UNREACHED = "unreached"
UNREACHED_WHY = "the run ended before its turn"


@dataclass(frozen=True)
class UncountedAnswers:
    """Answers that came and do not count, for one reason."""

    reason: Annotated[
        str,
        "withdrawn, ended, late, changed, retired, person, unreadable; or unreached: it waited for "
        "an earlier answer of its worker when the run ended.",
    ]
    why: str
    answers: Annotated[int, "Number of such answers."]


def count_uncounted(run: Run) -> list[UncountedAnswers]:
    """Count the answers that came and do not count, the most frequent reason first."""
    rows = run.uncounted.exclude(at=None).order_by().values_list("reason")
    counts = [
        UncountedAnswers(reason, UncountedAnswer.Reason(reason).label, count)
        for reason, count in rows.annotate(count=Count("id"))
    ]
    waiting = run.answers.filter(is_given(), applied_in=None, void=False)
    if run.status == Run.Status.ENDED and (count := waiting.count()):
        counts.append(UncountedAnswers(UNREACHED, UNREACHED_WHY, count))
    return sorted(counts, key=lambda each: (-each.answers, each.reason))
