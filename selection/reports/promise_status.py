"""What a run promises, and what holds by now, in words and as a number."""

from dataclasses import dataclass

from selection.models import Run
from selection.setup import choices, priors, refusals
from topk import ASSUMPTIONS, Goal, Promise

from .progress import rounded_up

EVERY_POOL, ON_AVERAGE = "for every pool", "on average over pools like this one"


@dataclass(frozen=True)
class PromiseStatus:
    """What a run promises, and how that stands.

    sentence  in full while it may still be kept and where it was, else what can be said instead
    so_far    while the run goes on: which ε it would promise if it ended now; empty if none ever
    meaning   the sentence for that ε; empty where there is none yet
    epsilon   of the promise that holds by now, or held at the end; None where there is none
    holds     where that is: for every pool, or on average over pools
    assumes   what all of it rests on
    """

    sentence: str
    so_far: str = ""
    meaning: str = ""
    epsilon: float | None = None
    holds: str = ""
    assumes: str = ASSUMPTIONS


def promise_status(run: Run) -> PromiseStatus:
    n = run.candidates.filter(skill=0).count() or run.pool.workers.count()
    draft = run.status == Run.Status.DRAFT
    if draft and (refused := refusals.of(run, n)):
        return PromiseStatus(" ".join(refused.values()))
    promise = run.selector(workers=n).promise
    assumes = promise.assumes + priors.assumption(run)
    if draft:
        return PromiseStatus(choices.sentence(run, promise, n), assumes=assumes)
    epsilon = _epsilon(run, promise)
    ended = run.status == Run.Status.ENDED
    early = ended and not run.finished
    known = epsilon is not None and not ended
    return PromiseStatus(
        sentence=_early(run, promise, n) if early else choices.sentence(run, promise, n),
        so_far="" if ended else _so_far(promise, epsilon),
        meaning=choices.sentence(run, promise, n, epsilon) if known else "",
        epsilon=epsilon,
        holds="" if epsilon is None else ON_AVERAGE if promise.average else EVERY_POOL,
        assumes=assumes,
    )


def _early(run: Run, promise: Promise, n: int) -> str:
    """What a run that ended before its time can say for itself."""
    if run.fixed_budget:
        return f"The {run.total} workers that looked best when it ended early; no promise."
    gap = _gap(run)
    short = f"ε = {run.epsilon:g} was not reached" if promise.average else "Not certified"
    if gap is None:
        return f"{short}: there were too few answers to promise anything about these workers."
    if not promise.average:
        short += (
            f" as the best {run.k}" if promise.goal is Goal.EXACT else f" for ε = {run.epsilon:g}"
        )
    return f"{short}. {choices.sentence(run, promise, n, gap)}"


def _so_far(promise: Promise, epsilon: float | None) -> str:
    if not _bounds(promise):
        return ""
    words = "Reached so far, on average" if promise.average else "Certified so far"
    reached = "nothing yet, there are too few answers" if epsilon is None else f"ε = {epsilon:g}"
    return f"{words}: {reached}."


def _epsilon(run: Run, promise: Promise) -> float | None:
    if run.certified:
        return 0.0 if promise.goal is Goal.EXACT else run.epsilon
    return _gap(run) if _bounds(promise) else None


def _bounds(promise: Promise) -> bool:
    """Whether its gap bounds anything before it has stopped by itself."""
    goal = promise.early if promise.goal is Goal.EXACT else promise.goal
    return promise.fixed == "confidence" and goal is not Goal.NONE


def _gap(run: Run) -> float | None:
    """The gap as it is shown; None while it says nothing."""
    last = run.history.order_by("-number").first()
    return None if last is None or last.gap >= 1 else rounded_up(last.gap)


def interval(run: Run) -> str:
    """What a worker's lower and upper are, in words."""
    if run.fixed_budget:
        return "bounds that the algorithm works with, if it has any: nothing is promised of them"
    return run.selector_class.interval
