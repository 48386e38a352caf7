"""Reasons that weaken the guarantee of a run that has ended: one list, read by every surface."""

from dataclasses import dataclass

from django.db.models import Q

from selection.models import Run
from selection.runs import priors
from selection.texts import count_noun

from .collusion import CollusionSigns
from .model_fit import ModelFit
from .plain_guarantee import shorten_doubt


@dataclass(frozen=True)
class Weakening:
    """A reason not to rely on the guarantee as it stands: in a few words, and in full."""

    short: str
    sentence: str


def list_weakenings(
    run: Run, fit: ModelFit, signs: CollusionSigns, by_hand: str
) -> tuple[Weakening, ...]:
    """Return the reasons not to rely on the guarantee as it stands; mostly none.

    fit      doubts of the algorithm and of the tests of its assumptions
    signs    signs that workers share answers
    by_hand  the effect of verdicts by hand on the guarantee; empty without any
    """
    prior = priors.prior_doubt(run)
    reasons = (
        *(Weakening(shorten_doubt(doubt), doubt) for doubt in fit.warnings),
        *_leavers(run),
        *_sharing(signs),
        Weakening(shorten_doubt(prior), prior),
        Weakening("verdicts were set by hand", by_hand),
    )
    return tuple(reason for reason in reasons if reason.sentence)


def _leavers(run: Run) -> list[Weakening]:
    if run.selector_class.covers_leavers:
        return []
    count = run.candidates.filter(~Q(gone=""), pulls__gt=0).values("worker").distinct().count()
    if not count:
        return []
    workers, were = count_noun(count, "worker"), "was" if count == 1 else "were"
    sentence = (
        f"{workers} left or {were} withdrawn after answers had counted; the "
        "guarantee assumes that the reason had nothing to do with the answers."
    )
    return [Weakening(f"{workers} left or {were} withdrawn during the test", sentence)]


def _sharing(signs: CollusionSigns) -> list[Weakening]:
    count = len(signs.found)
    if not count:
        return []
    sentence = (
        f"There {'is' if count == 1 else 'are'} {count_noun(count, 'sign')} that workers share "
        "answers, and the guarantee assumes that they do not."
    )
    return [Weakening("workers may share answers", sentence)]
