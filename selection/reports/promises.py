"""What a run promises, in words."""

import math

from selection import offers
from selection.bandit import ASSUMPTIONS, Goal
from selection.models import Run


def promise(run: Run) -> str:
    """What this run promises: in full if it ended so, else what can be said by now."""
    n = workers_in(run)
    if run.status == Run.Status.DRAFT and (refusals := offers.refusals(run, n)):
        return " ".join(refusals.values())
    rule = offers.selector(run, n).promise
    if run.status != Run.Status.ENDED or run.finished:
        return offers.sentence(run, rule, n)
    if run.fixed_budget:
        return f"The {run.total} workers that looked best when it ended early; no promise."
    last = run.history.order_by("-number").first()
    if last is None or last.gap >= 1:
        return "Not certified: there were too few answers to promise anything about these workers."
    reached = math.ceil(last.gap * 1000) / 1000  # upwards, so that what is said still holds
    aim = f"as the best {run.k}" if rule.goal is Goal.EXACT else f"for ε = {run.epsilon:g}"
    return f"Not certified {aim}. {offers.sentence(run, rule, n, reached)}"


def workers_in(run: Run) -> int:
    """How many workers there are to choose from."""
    return run.candidates.filter(skill=0).count() or run.pool.workers.count()


def assumptions() -> str:
    """What every promise rests on, in words."""
    return ASSUMPTIONS
