"""The check before an evaluation: one call of each model, and the price of the whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from selection.errors import Refused
from selection.forecast import DefaultBelief, Plan, draft_forecast
from selection.model_workers import adjustments, prices
from selection.model_workers.call_pool import CallPool
from selection.model_workers.prices import to_amount
from selection.model_workers.prompts import build_prompt
from selection.runs.money import format_call_cost
from selection.texts import counted

from . import inputs as files
from .calls import Caller
from .inputs import Inputs
from .ledger import Ledger
from .play import TURN
from .result import describe_replies
from .runs import Tell, folder

FIELDS = ("model", "answer", "tokens_in", "tokens_out", "milliseconds", "problem", "reply")


@dataclass(frozen=True)
class Check:
    """rows: a call of each model; notices: changes of their requests; price: of the run."""

    rows: list[dict[str, Any]]
    notices: dict[str, str]
    price: dict[str, Any]
    inputs: Inputs

    @property
    def failed(self) -> list[str]:
        return [row["model"] for row in self.rows if not row["answer"]]

    @property
    def lines(self) -> list[str]:
        currency, failed = self.inputs.settings["currency"], self.failed
        lines = describe_replies(self.rows, currency)
        lines += [f"“{name}”: {notice}" for name, notice in self.notices.items() if notice]
        if not any(self.notices.values()):
            lines.append("The servers accepted all parameters as they are.")
        whole = f"at most {counted(self.price['most_calls'], 'call')}"
        whole += f", {format_call_cost(self.price['most'], currency)}."
        if self.price["calls"] is not None:
            cost = format_call_cost(self.price["cost"], currency)
            usual = counted(self.price["calls"], "call")
            whole = f"about {usual}, {cost} in simulated runs; {whole}"
        verdict = "Each model gave an answer. The same command without --check starts the run."
        if failed:
            names = ", ".join(f"“{name}”" for name in failed[:10])
            number = counted(len(failed), "model")
            verdict = f"No answer of {number}: {names}. Mend them, or use --drop."
        return [*lines, *self.inputs.notes, f"The evaluation: {whole}", verdict]

    @property
    def document(self) -> dict[str, Any]:
        models = [
            {name: row[name] for name in FIELDS}
            | {"cost": str(to_amount(row["cost"])), "notice": self.notices[row["model"]]}
            for row in self.rows
        ]
        price = {name: str(value) for name, value in self.price.items() if value is not None}
        passed = {"passed": not self.failed, "models": models, "forecast": price}
        return passed | {"unused": "\n".join(self.inputs.notes)}


def check_models(options: dict[str, Any], limit: int | None, tell: Tell) -> Check:
    """Ask each model the first question, outside of a run. Raises Refused without the money.

    Replies are stored: a run takes those of equal requests.
    """
    inputs = files.read_inputs(options)
    inputs.drop_models(options["drop"])
    for note in files.fill_prices(inputs):
        tell(note)
    models, (key, question) = files.build_models(inputs), next(iter(inputs.questions.items()))
    most = {
        name: prices.most_cost(model, build_prompt(model, question).tokens)
        for name, model in models.items()
    }
    if limit is not None and sum(most.values()) > limit:
        whole = format_call_cost(to_amount(sum(most.values())), options["currency"])
        left = format_call_cost(to_amount(limit), options["currency"])
        number = counted(len(models), "model")
        raise Refused(
            f"The check of {number} can cost {whole}, more than the limit of the money, {left}."
        )
    rows, waiting = list[dict[str, Any]](), list(models)
    with CallPool() as pool:
        caller = Caller(pool, Ledger(folder()), None, inputs, models)
        while waiting or caller.in_flight:
            waiting = [name for name in waiting if not caller.begin(name, key)]
            rows += caller.collect(TURN)
    return Check(
        sorted(rows, key=lambda row: str(row["model"])),
        {name: adjustments.describe_server(models[name]) for name in sorted(models)},
        _forecast_price(inputs, rows, most),
        inputs,
    )


def _forecast_price(
    inputs: Inputs, rows: list[dict[str, Any]], most: Mapping[str, int]
) -> dict[str, Any]:
    """Forecast calls and cost by these replies, or else by the most that a call can cost."""
    chosen, questions = inputs.settings, len(inputs.questions)
    costs = [row["cost"] if row["state"] == "replied" else most[row["model"]] for row in rows]
    goal = draft_forecast.goal_of(chosen["algorithm"])
    limits = {name: chosen[name] for name in ("k", "epsilon", "delta")}
    row = draft_forecast.simulate_plan(
        Plan(workers=len(rows), questions=questions, goal=goal, **limits),
        DefaultBelief(),
        chosen["algorithm"],
        not chosen["any_questions"],
    )
    calls = None if row is None else row.median
    whole = to_amount(sum(costs) * questions)
    cost = None if calls is None else to_amount(sum(costs)) * Decimal(calls) / len(costs)
    return {"calls": calls, "cost": cost, "most_calls": questions * len(rows), "most": whole}
