"""Answers that were given and do not count, by reason."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from django.db.models import Count, QuerySet

from selection.models import Run, UncountedAnswer, Watch
from selection.models.answers import is_given

UNREACHED = "unreached"
UNREACHED_WHY = "the run ended before its turn"


@dataclass(frozen=True)
class UncountedAnswers:
    """Answers that came and do not count, for one reason."""

    reason: Annotated[
        str,
        "withdrawn, ended, late, changed, retired, person, unreadable. Of gold also met and "
        "unknown. Of a run also unreached: it waited for an earlier answer at the end.",
    ]
    why: str
    answers: Annotated[int, "Number of such answers."]


def count_uncounted(run: Run) -> list[UncountedAnswers]:
    """Count the answers that came and do not count, the most frequent reason first."""
    counts = _count_rows(run.uncounted.exclude(at=None), "run")[run.pk]
    waiting = run.answers.filter(is_given(), applied_in=None, void=False)
    if run.status == Run.Status.ENDED and (count := waiting.count()):
        counts.append(UncountedAnswers(UNREACHED, UNREACHED_WHY, count))
    return sorted(counts, key=lambda each: (-each.answers, each.reason))


def count_uncounted_gold(
    watches: Collection[Watch],
) -> defaultdict[int, list[UncountedAnswers]]:
    return _count_rows(UncountedAnswer.objects.filter(watch__in=watches), "watch")


def _count_rows(
    rows: QuerySet[UncountedAnswer], owner: str
) -> defaultdict[int, list[UncountedAnswers]]:
    counts: defaultdict[int, list[UncountedAnswers]] = defaultdict(list)
    columns = rows.order_by().values_list(owner, "reason").annotate(count=Count("id"))
    for pk, reason, count in columns.order_by("-count", "reason"):
        label = UncountedAnswer.Reason(reason).label
        counts[pk].append(UncountedAnswers(reason, label, count))
    return counts
