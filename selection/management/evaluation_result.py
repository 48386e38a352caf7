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


def result_lines(run: Run) -> list[str]:
    rows = _standing_rows(run)
    chosen = [row for row in rows if row["selected"]]
    others = [row for row in rows if not row["selected"]]
    lines = [
        LINE.format(place=place, **_format_row(row, run)) for place, row in enumerate(chosen, 1)
    ]
    lines += [""] + [LINE.format(place="", **_format_row(row, run)) for row in others[:10]]
    lines += [f"     … and {len(others) - 10} more"] if len(others) > 10 else []
    everything = run.candidates.count() * run.deck_size
    calls = run.model_calls.count()
    return [
        *lines,
        "",
        _describe_guarantee(run),
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
        "guarantee": _describe_guarantee(run),
        "epsilon_reached": status.epsilon,
        "calls": run.model_calls.count(),
        "cost": str(prices.to_amount(_spending(run))),
        "models": _standing_rows(run),
        "replies": [
            asdict(count) | {"advice": count.advice} for count in unreadable.count_replies(run)
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _describe_guarantee(run: Run) -> str:
    status = reports.promise_status(run)
    sentence = f"{status.sentence} {status.over}".strip()
    return f"Not reached yet: {sentence}" if run.status == Run.Status.PAUSED else sentence


def _standing_rows(run: Run) -> list[dict[str, Any]]:
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
    """Return a table of the first reply of each model: how it was read, and its cost."""
    names = {"name": "model", "read": "reply read as", "tokens": "tokens", "cost": "price"}
    lines = [CHECKED.format(**names, seconds="time", problem="problem").rstrip()]
    calls = _first_calls(run)
    rows = run.candidates.filter(skill=0).select_related("worker__endpoint")
    for row in sorted(rows, key=lambda row: row.worker.key):
        lines.append(_check_line(row, calls.get(row.worker_id), run.currency))
    return lines


def _first_calls(run: Run) -> dict[int, ModelCall]:
    """Return the first call of each worker that has a reply."""
    return {call.worker_id: call for call in run.model_calls.replied().order_by("-id")}


def _check_line(row: Candidate, call: ModelCall | None, currency: str) -> str:
    name, problem = row.worker.key, row.worker.endpoint.problem
    if call is None:
        read, problem = ("set aside" if row.gone else "no reply"), problem or "not called yet"
        parts = {"read": read, "tokens": "", "cost": "", "seconds": ""}
    else:
        tokens = (call.tokens_in or 0) + (call.tokens_out or 0)
        parts = {
            "read": call.answer[:20] if call.answer else "unreadable",
            "tokens": str(tokens or ""),
            "cost": money.format_call_cost(prices.to_amount(call.cost), currency),
            "seconds": f"{(call.milliseconds or 0) / 1000:.1f} s",
        }
        problem = call.problem
    return CHECKED.format(name=name, problem=problem, **parts).rstrip()
