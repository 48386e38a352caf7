"""The check of a draft's models: one test call of each, before the run is paid for."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from selection.errors import Conflict, Refused
from selection.history import events
from selection.model_workers import askable, spending, testing
from selection.model_workers.expected_costs import most_cost
from selection.model_workers.prices import to_amount
from selection.models import Endpoint, Job, ModelCall, Question, Run
from selection.outbox import jobs
from selection.runs.money import format_call_cost
from selection.texts import count_noun

from . import eligibility

CHECK = "check_models"  # kind of job
SECONDS = 1.0  # between two reports of its progress
MOST_SHOWN = 2_000  # characters of a reply
LEFT_OUT = "Left out before the start"  # begins the event


def list_models(run: Run) -> QuerySet[Endpoint]:
    """List the models that would take part in the draft, by the worker's id."""
    rows = Endpoint.objects.filter(worker__in=eligibility.eligible_workers(run).order_by())
    return rows.select_related("worker", "server").order_by("worker__key")


def most_price(run: Run, models: Sequence[Endpoint]) -> Decimal:
    """Bound the cost of a check of the draft's models."""
    return sum((most_cost(model, run.question_set) for model in models), Decimal(0))


def request_check(run: Run, by: str) -> Job:
    """Hand out a check of the draft's models; raises Refused if it cannot be made or afforded.

    Its result has ``of``, the number of models, and ``models``, a row for each that has ended.
    """
    if run.status != Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has begun: its page shows the replies of its models.")
    validate_check(run, list(list_models(run)))
    return jobs.request_job(run.team_id, CHECK, run, by)


def validate_check(run: Run, models: Sequence[Endpoint]) -> Question:
    """Choose the question of a check; raises Refused if it cannot be made or afforded."""
    if not models:
        raise Refused("No model takes part in this run.")
    if why := askable.refuse_questions(run.question_set, models):
        raise Refused(why)
    limit, price = spending.read_limit(run), most_price(run, models)
    if limit is not None and price > limit:
        raise Refused(
            f"The check of {count_noun(len(models), 'model')} can cost "
            f"{format_call_cost(price, run.currency)}, more than the limit of the money, "
            f"{format_call_cost(limit, run.currency)}."
        )
    return testing.choose_question(run.question_set)


@jobs.perform(CHECK)
def _check_models(job: Job) -> dict[str, Any]:
    run = jobs.find_row(Run.objects.select_related("question_set"), job.subject)
    question, models = testing.choose_question(run.question_set), list(list_models(run))
    rows, last_progress = list[dict[str, Any]](), monotonic()
    for call in testing.make_test_calls(models, question):
        rows.append(_describe_call(call))
        if monotonic() - last_progress > SECONDS:
            job.result = {"total": len(models), "models": rows}
            jobs.store_turn(job, "result")
            last_progress = monotonic()
    rows.sort(key=lambda row: (row["good"], row["worker"]))
    return {"total": len(models), "models": rows}


def _describe_call(call: ModelCall) -> dict[str, Any]:
    fields = ("answer", "milliseconds", "problem")
    return {name: getattr(call, name) for name in fields} | {
        "worker": call.worker.key,
        "id": call.worker_id,
        "good": bool(call.answer),
        "tokens": (call.tokens_in or 0) + (call.tokens_out or 0),
        "cost": float(to_amount(call.cost)),
        "reply": call.reply[:MOST_SHOWN],
    }


@transaction.atomic
def leave_out(run: Run, keys: Collection[str], by: str) -> None:
    """Leave these workers out of the draft. Raises Refused if there were no choice without them."""
    locked = Run.objects.locked(run.pk)
    if locked is None or locked.status != Run.Status.DRAFT:
        raise Conflict("The run has begun: withdraw the models on its page.")
    locked.left_out = list(dict.fromkeys([*locked.left_out, *keys]))
    rest = eligibility.count_eligible(locked)
    if rest <= max(skill.k for skill in locked.skills):
        raise Refused(
            f"{count_noun(rest, 'worker')} would be left, too few to choose {locked.k} from: mend "
            "the models, or select fewer workers."
        )
    locked.save(update_fields=["left_out"])
    events.write_event(locked, "draft", f"{LEFT_OUT}: {', '.join(keys)}.", by)
