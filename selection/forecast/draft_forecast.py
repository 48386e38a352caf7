"""What a run that has not begun is expected to cost: the row of its own algorithm in a forecast."""

from contextlib import suppress
from dataclasses import dataclass

from django.core.cache import cache

from selection.algorithms import VARIED, describe_variant
from selection.errors import Refused
from selection.models import Planning, Run, exposure
from selection.runs import eligibility, validation
from topk import Goal

from . import forecast_requests, inputs
from .beliefs import Belief, DefaultBelief, PastBelief
from .plan import Plan
from .refining import refine_forecasts
from .rows import Forecast

GOALS = {Goal.AGGREGATE: "group", Goal.EXPLORE_K: "every", Goal.EXACT: "exact", Goal.NONE: "group"}

KEPT_SECONDS = 3600


@dataclass(frozen=True)
class DraftForecast:
    """own      of the run's algorithm; None if that is none that can be simulated
    best     what is recommended for the same; the same row where it is the run's own; None until
             there are numbers
    this_set  of the same algorithm, where that promises about this question set alone
    rough    what was not simulated as it is set, in words; empty if nothing
    """

    planning: Planning
    plan: Plan
    own: Forecast | None
    best: Forecast | None
    this_set: Forecast | None
    rough: str


def plan_of_draft(run: Run) -> Plan:
    """Without its price, so that a change of price needs no new forecast. Raises Refused."""
    if run.several or run.selector_class.several_skills:
        raise Refused("What runs of several skills cost is not forecast.")
    workers = validation.expected_workers(run, eligibility.count_eligible(run))
    return Plan(
        workers=workers,
        k=run.k,
        epsilon=run.epsilon,
        delta=run.delta,
        questions=exposure.count_askable(run.question_set),
        left=exposure.answers_left(run.question_set, workers),
        met=eligibility.count_passed_over(run),
        budget=run.budget,
        goal=GOALS[run.selector_class.promise.goal],
    )


def belief_of_draft(run: Run) -> Belief:
    """What was believed when it was made; else the run that it learns from, else nothing."""
    if run.belief:
        return inputs.belief_from_numbers(run.belief)
    prior = run.options.get("prior")
    if not prior:
        return DefaultBelief()
    tallies = [(right, all_) for right, all_, many in prior["tallies"] for _ in range(round(many))]
    seen = [(float(right), int(all_)) for right, all_ in tallies if all_ > 0]
    name = prior.get("source", {}).get("run", "")
    source = f"the run “{name}”" if name else "an earlier run"
    return PastBelief(source, tuple(right for right, _ in seen), tuple(all_ for _, all_ in seen))


def request_draft_forecast(run: Run, by: str = "") -> Planning:
    """Raises Refused where nothing can be forecast."""
    return forecast_requests.request_forecast(
        plan_of_draft(run), belief_of_draft(run), by, team=run.team_id
    )


def draft_forecast(run: Run) -> DraftForecast | None:
    """None until it has been ordered, and where nothing can be forecast."""
    try:
        asked = plan_of_draft(run)
        key = inputs.forecast_key(asked, belief_of_draft(run), run.pool.team_id)
        planning = Planning.objects.filter(key=key).first()
    except Refused:
        return None
    if planning is None:
        return None
    rows = forecast_requests.forecast_rows(planning)
    own = [row for row in rows if row.algorithm == run.algorithm]
    meant = run.options.get("accuracy", "")
    here = [row for row in own if describe_variant(row.options) == describe_variant(run.options)]
    this_set = [row for row in own if row.options.get("accuracy") and not meant]
    return DraftForecast(
        planning=planning,
        plan=asked,
        own=here[0] if here else None,
        best=rows[0] if rows else None,
        this_set=this_set[0] if this_set else None,
        rough=_rough_key(run),
    )


def quick_forecast(run: Run) -> list[Forecast]:
    """The table for a run that is not stored, as firm as it is by now or as half a second makes it;
    empty where that is not enough for any number (``Plan.is_quick``).

    Nothing is ordered: a form asks this for every number that is tried. Raises Refused.
    """
    asked, believed = plan_of_draft(run), belief_of_draft(run)
    key = inputs.forecast_key(asked, believed, run.pool.team_id)
    planning = Planning.objects.filter(key=key).first()
    if planning is not None:
        return forecast_requests.forecast_rows(planning)
    if not asked.is_quick:
        return []
    name, found = f"forecast-{key}", list[Forecast]()
    with suppress(Exception):  # a cache that is away costs time, and nothing else
        found = cache.get(name) or []
    if not found:
        found = next(refine_forecasts(asked, believed, forecast_requests.FIRST))
        with suppress(Exception):
            cache.set(name, found, KEPT_SECONDS)
    return found


def _rough_key(run: Run) -> str:
    other = [name for name in run.hand_set if name not in VARIED]
    parts = [
        *(["its options set by hand"] if other else []),
        *(["its quotas"] if run.quotas else []),
        *(["those who may still join"] if run.enrolling else []),
    ]
    return f"It leaves {' and '.join(parts)} out of account." if parts else ""
