"""Expected cost of a draft: the row of its own algorithm in a forecast."""

from dataclasses import dataclass
from time import thread_time

from selection.algorithms import (
    ALGORITHMS,
    VARIED,
    describe_missing_forecast,
    describe_variant,
)
from selection.errors import Refused
from selection.model_workers.askable import has_models_only
from selection.models import ForecastRequest, Run, exposure, pass_marks
from selection.runs.roster import eligibility
from selection.runs.settings import drafts, validation
from selection.texts import count_noun

from . import forecast_requests, inputs, mark_cost
from .bands import MANY
from .beliefs import Belief, DefaultBelief
from .candidates import suitable_contenders
from .plan import GOALS, Plan
from .refining import has_enough_runs, simulate_one_more
from .rows import Forecast, SimulationLedger, build_row

OWN_SECONDS = 5.0  # of a processor, for one algorithm alone


@dataclass(frozen=True)
class DraftForecast:
    """Forecast of a draft.

    own      of the run's algorithm; None if that cannot be simulated
    best     the recommended row for the same goal that the draft can take, possibly the run's own;
             None without
    numbers  True once there are any
    this_set  of the same algorithm with a guarantee for this question set alone
    rough    settings left out of the simulation, in words; empty if none
    """

    job: ForecastRequest
    plan: Plan
    own: Forecast | None
    best: Forecast | None
    numbers: bool
    this_set: Forecast | None
    rough: str


def goal_of(algorithm: str) -> str:
    """Find the goal that the algorithm guarantees; a group for one without a guarantee."""
    goal = ALGORITHMS[algorithm].guarantee.goal
    return next((name for name, (first, *_) in GOALS.items() if first is goal), "group")


def plan_of_draft(run: Run) -> Plan:
    if run.several or run.selector_class.several_skills:
        raise Refused("There is no forecast for runs of several skills.")
    if reason := describe_missing_forecast(run.algorithm):
        raise Refused(reason)
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
        goal=goal_of(run.algorithm),
        mark=run.pass_mark,
    )


def belief_of_draft(run: Run) -> Belief:
    return inputs.belief_from_numbers(run.belief) if run.belief else DefaultBelief()


def request_draft_forecast(run: Run, by: str = "") -> ForecastRequest:
    """Raise Refused if the run cannot be forecast."""
    return forecast_requests.request_forecast(
        plan_of_draft(run), belief_of_draft(run), by, team=run.team_id
    )


def draft_forecast(run: Run) -> DraftForecast | None:
    """Find the forecast; None until it is requested. Raises Refused if the run cannot have one."""
    plan = plan_of_draft(run)
    pk = inputs.forecast_id(plan, belief_of_draft(run), run.pool.team_id)
    job = ForecastRequest.objects.filter(pk=pk).first()
    if job is None:
        return None
    forecast_requests.touch_forecast(job)
    rows = forecast_requests.forecast_rows(job)
    own_rows = [row for row in rows if row.algorithm == run.algorithm]
    variant = describe_variant(run.options)
    on_set = [row for row in own_rows if row.options.get("accuracy")]
    return DraftForecast(
        job=job,
        plan=plan,
        own=next((row for row in own_rows if describe_variant(row.options) == variant), None),
        best=next((row for row in rows if _is_takable(run, row)), None),
        numbers=bool(rows),
        this_set=None if run.options.get("accuracy") else next(iter(on_set), None),
        rough=_describe_ignored(run, plan),
    )


def _is_takable(run: Run, row: Forecast) -> bool:
    """Tell if the draft, with its quotas, can have the row's algorithm."""
    variant = describe_variant(row.options)
    return not row.feasible or drafts.is_possible(run, {"algorithm": row.algorithm}, variant)


def simulate_plan(plan: Plan, belief: Belief, algorithm: str, this_set: bool) -> Forecast | None:
    """Simulate one algorithm at once, in a few seconds; None if that is impossible.

    this_set  True if its guarantee is about the very questions, if it can be
    """
    try:
        matches = [one for one in suitable_contenders(plan) if one.name == algorithm]
    except Refused:
        return None
    if not matches:
        return None
    matches.sort(key=lambda one: bool(describe_variant(one.options)) != this_set)
    ledger, began = SimulationLedger(matches[0]), thread_time()
    while not has_enough_runs(ledger, MANY) and thread_time() - began < OWN_SECONDS:
        simulate_one_more(ledger, belief, look_farther=False)
    return None if ledger.cannot else build_row(plan, ledger)


def _describe_ignored(run: Run, plan: Plan) -> str:
    other = [name for name in run.hand_set if name != VARIED]
    parts = [
        *(["options set by hand"] if other else []),
        *(["quotas"] if run.quotas else []),
        *(["the workers’ prices"] if run.by_price else []),
        *(["workers that may still join"] if run.enrolling and not run.enrol_most else []),
    ]
    texts = [f"The forecast ignores {' and '.join(parts)}."] if parts else []
    if run.slots > 1 and has_models_only(run.pool):
        texts.append(
            f"Up to {count_noun(run.slots, 'question', 'are')} out at once: this needs more calls "
            "than one question at a time."
        )
    if plan.mark and pass_marks.has_mark(run):
        texts.append(mark_cost.describe_mark_cost(plan.mark, plan.workers, plan.delta))
    return " ".join(texts)
