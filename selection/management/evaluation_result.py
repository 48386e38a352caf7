"""The result of an evaluation of models, as text and as JSON."""

import json
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from django.db.models import Sum

from selection import reports
from selection.model_workers import prices, unreadable
from selection.models import Candidate, ModelCall, ModelSpending, Run
from selection.reports.selection import selection_of_run
from selection.runs import money
from selection.texts import counted

LINE = "{place:>3}  {name:<40} {accuracy:>8}  {calls:>6} calls  {cost:>12}  {verdict}"
CHECKED = "{name:<40} {read:<20} {tokens:>7} {cost:>12} {seconds:>8}  {problem}"
CHECKED_HEAD = {
    "name": "model",
    "read": "reply read as",
    "tokens": "tokens",
    "cost": "price",
    "seconds": "time",
    "problem": "problem",
}
NOT_CALLED = {"read": "no reply", "tokens": "", "cost": "", "seconds": ""}


def result_lines(run: Run) -> list[str]:
    rows = standing_rows(run)
    chosen = [row for row in rows if row["selected"]]
    others = [row for row in rows if not row["selected"]]
    lines = [standing_line(row, run, str(place)) for place, row in enumerate(chosen, 1)]
    lines += [""] + [standing_line(row, run) for row in others[:10]]
    lines += [f"     … and {len(others) - 10} more"] if len(others) > 10 else []
    everything = run.candidates.count() * run.deck_size
    calls = run.model_calls.count()
    return [
        *lines,
        "",
        describe_guarantee(run),
        f"{counted(calls, 'call')} of {everything:,} ({calls / everything:.1%}), "
        f"{format_spent(run)}. "
        f"Run {run.pk}, “{run}”.",
    ]


def format_json(run: Run) -> str:
    status = reports.promise_status(run)
    document = {
        "run": run.pk,
        "name": run.name,
        "ending": run.ending,
        "guarantee": describe_guarantee(run),
        "epsilon_reached": status.epsilon,
        "calls": run.model_calls.count(),
        "cost": str(prices.to_amount(_spending(run))),
        "models": standing_rows(run),
        "replies": [
            asdict(count) | {"advice": count.advice} for count in unreadable.count_replies(run)
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def describe_guarantee(run: Run) -> str:
    status = reports.promise_status(run)
    sentence = f"{status.sentence} {status.over}".strip()
    return f"Not reached yet: {sentence}" if run.status == Run.Status.PAUSED else sentence


def standing_rows(run: Run) -> list[dict[str, Any]]:
    selected = set(selection_of_run(run).arms.tolist())
    calls = run.model_calls.order_by().values_list("worker")
    costs: dict[int, int] = dict(calls.annotate(cost_of_all=Sum("cost")))
    rows = [
        {
            "model": candidate.worker.key,
            "selected": candidate.arm in selected,
            "accuracy": round(candidate.rewards / candidate.pulls, 4) if candidate.pulls else None,
            "calls": candidate.pulls,
            "cost": str(prices.to_amount(costs.get(candidate.worker_id, 0))),
            "set_aside": bool(candidate.gone),
            "problem": candidate.worker.endpoint.problem,
        }
        for candidate in run.candidates.select_related("worker__endpoint")
    ]
    return sorted(rows, key=lambda row: (not row["selected"], -(row["accuracy"] or 0)))


def standing_line(row: dict[str, Any], run: Run, place: str = "") -> str:
    return LINE.format(place=place, **_format_row(row, run)).rstrip()


def _format_row(row: dict[str, Any], run: Run) -> dict[str, str]:
    accuracy = "" if row["accuracy"] is None else f"{row['accuracy']:.1%}"
    cost = money.format_call_cost(Decimal(row["cost"]), run.currency)
    verdict = "selected" if row["selected"] else "set aside" if row["set_aside"] else ""
    calls = str(row["calls"])
    return {"name": row["model"], "accuracy": accuracy, "calls": calls, "cost": cost} | {
        "verdict": verdict
    }


def _spending(run: Run) -> int:
    spending = ModelSpending.objects.filter(run=run).first()
    return 0 if spending is None else spending.spent


def format_spent(run: Run) -> str:
    return money.format_call_cost(prices.to_amount(_spending(run)), run.currency)


# -- the first call of each model


def is_checked(run: Run) -> bool:
    """Return True if each model has replied, or is set aside."""
    rows = run.candidates.filter(gone="", skill=0)
    return not rows.exclude(worker__in=_first_calls(run)).exists()


def check_lines(run: Run) -> list[str]:
    lines, calls = [CHECKED.format(**CHECKED_HEAD).rstrip()], _first_calls(run)
    rows = run.candidates.filter(skill=0).select_related("worker__endpoint")
    for row in sorted(rows, key=lambda row: row.worker.key):
        lines.append(_check_line(row, calls.get(row.worker_id), run.currency))
    return lines


def _first_calls(run: Run) -> dict[int, ModelCall]:
    return {call.worker_id: call for call in run.model_calls.replied().order_by("-id")}


def _check_line(row: Candidate, call: ModelCall | None, currency: str) -> str:
    if call is not None:
        problem, parts = call.problem, describe_call(call, currency)
    else:
        problem = row.worker.endpoint.problem or "not called yet"
        parts = NOT_CALLED | {"read": "set aside" if row.gone else "no reply"}
    return CHECKED.format(name=row.worker.key, problem=problem, **parts).rstrip()


def describe_call(call: ModelCall, currency: str) -> dict[str, str]:
    if call.state not in (ModelCall.State.REPLIED, ModelCall.State.REUSED):
        return NOT_CALLED
    tokens = (call.tokens_in or 0) + (call.tokens_out or 0)
    return {
        "read": call.answer[:20] if call.answer else "unreadable",
        "tokens": str(tokens or ""),
        "cost": money.format_call_cost(prices.to_amount(call.cost), currency),
        "seconds": f"{(call.milliseconds or 0) / 1000:.1f} s",
    }
