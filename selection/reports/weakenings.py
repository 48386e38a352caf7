"""Reasons that weaken the guarantee of a run that has ended: one list, read by every surface."""

from django.db.models import Q

from selection.models import Run
from selection.runs import priors

from .collusion import CollusionSigns
from .durations import count_noun
from .model_fit import ModelFit


def list_weakenings(
    run: Run, fit: ModelFit, signs: CollusionSigns, by_hand: str
) -> tuple[str, ...]:
    """Return a sentence for each reason not to rely on the guarantee as it stands; mostly none.

    fit      doubts of the algorithm and of the tests of its assumptions
    signs    signs that workers share answers
    by_hand  the effect of verdicts by hand on the guarantee; empty without any
    """
    reasons = (
        *fit.warnings,
        _leavers_sentence(run),
        _sharing_sentence(signs),
        priors.prior_doubt(run),
        by_hand,
    )
    return tuple(reason for reason in reasons if reason)


def _leavers_sentence(run: Run) -> str:
    if run.selector_class.covers_leavers:
        return ""
    count = run.candidates.filter(~Q(gone=""), pulls__gt=0).values("worker").distinct().count()
    if not count:
        return ""
    were = "was" if count == 1 else "were"
    return (
        f"{count_noun(count, 'worker')} left or {were} withdrawn after answers had counted; the "
        "guarantee assumes that the reason had nothing to do with the answers."
    )


def _sharing_sentence(signs: CollusionSigns) -> str:
    count = len(signs.found)
    if not count:
        return ""
    return (
        f"There {'is' if count == 1 else 'are'} {count_noun(count, 'sign')} that workers share "
        "answers, and the guarantee assumes that they do not."
    )
