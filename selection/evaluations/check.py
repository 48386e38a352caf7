"""The check before an evaluation: one call of each model, and the price of the whole."""

import asyncio
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from selection.errors import Refused
from selection.forecast import DefaultBelief, Plan, draft_forecast
from selection.model_workers import adjustments, prices
from selection.model_workers.prices import to_amount
from selection.model_workers.prompts import Prompt, build_prompt
from selection.model_workers.server_calls import GuardedLoop
from selection.models import Endpoint
from selection.runs import money
from selection.texts import counted

from . import inputs as files
from .calls import Caller
from .inputs import Inputs
from .ledger import Ledger
from .result import describe_replies
from .runs import Tell, describe_unused, folder


@dataclass(frozen=True)
class Check:
    """rows: a call of each model; notices: changes of their requests; price: of the run."""

    rows: list[dict[str, Any]]
    notices: dict[str, str]
    price: dict[str, Any]
    currency: str
    unused: str

    @property
    def is_good(self) -> bool:
        return all(row["answer"] for row in self.rows)

    @property
    def lines(self) -> list[str]:
        lines = describe_replies(self.rows, self.currency)
        lines += [f"“{name}”: {notice}" for name, notice in self.notices.items()]
        if not self.notices:
            lines.append("The servers accepted all parameters as they are.")
        return [*lines, *filter(None, [self.unused]), self._price_line, self._verdict]

    @property
    def document(self) -> dict[str, Any]:
        fields = ("model", "answer", "tokens_in", "tokens_out", "milliseconds", "problem", "reply")
        models = [
            {name: row[name] for name in fields}
            | {"cost": str(to_amount(row["cost"])), "notice": self.notices.get(row["model"], "")}
            for row in self.rows
        ]
        price = {name: str(value) for name, value in self.price.items() if value is not None}
        passed = {"passed": self.is_good, "models": models, "forecast": price}
        return passed | {"unused": self.unused}

    @property
    def _price_line(self) -> str:
        whole = f"at most {counted(self.price['most_calls'], 'call')}"
        most = money.format_call_cost(self.price["most"], self.currency)
        if self.price["calls"] is None:
            return f"The evaluation: {whole}, {most}."
        usual = counted(self.price["calls"], "call")
        cost = money.format_call_cost(self.price["cost"], self.currency)
        return f"The evaluation: about {usual}, {cost} in simulated runs; {whole}, {most}."

    @property
    def _verdict(self) -> str:
        failed = [row["model"] for row in self.rows if not row["answer"]]
        if not failed:
            return "Each model gave an answer. The same command without --check starts the run."
        names = ", ".join(f"“{name}”" for name in failed[:10])
        return f"No answer of {counted(len(failed), 'model')}: {names}. Mend them, or use --drop."


def check_models(options: dict[str, Any], limit: int | None, tell: Tell) -> Check:
    """Ask each model the first question, outside of a run. Raises Refused without the money."""
    inputs = files.read_inputs(options)
    inputs.drop_models(options["drop"])
    for note in files.fill_prices(inputs)[1]:
        tell(note)
    models, currency = files.build_models(inputs), options["currency"]
    key, question = next(iter(inputs.questions.items()))
    cells = inputs.cells[key]
    prompts = {name: build_prompt(model, question, cells) for name, model in models.items()}
    most = {name: prices.most_cost(models[name], prompts[name].tokens) for name in models}
    if limit is not None and sum(most.values()) > limit:
        whole = money.format_call_cost(to_amount(sum(most.values())), currency)
        left = money.format_call_cost(to_amount(limit), currency)
        number = counted(len(models), "model")
        raise Refused(
            f"The check of {number} can cost {whole}, more than the limit of the money, {left}."
        )
    with asyncio.Runner(loop_factory=GuardedLoop) as runner:
        rows = runner.run(_call_models(inputs, models, prompts))
    notices = {name: adjustments.describe_server(models[name]) for name in sorted(models)}
    return Check(
        sorted(rows, key=lambda row: row["model"]),
        {name: notice for name, notice in notices.items() if notice},
        _forecast_price(inputs, rows, most),
        currency,
        describe_unused(inputs) if inputs.unused else "",
    )


async def _call_models(
    inputs: Inputs, models: dict[str, Endpoint], prompts: dict[str, Prompt]
) -> list[dict[str, Any]]:
    """Call each model once. Replies are stored: a run takes those of equal requests."""
    caller = Caller(Ledger(folder()), None, inputs.questions, inputs.cells)
    caller.open(models)
    try:
        key = next(iter(inputs.questions))
        calls = [caller.call_in_turn(name, key, prompt) for name, prompt in prompts.items()]
        return [row for row in await asyncio.gather(*calls) if row]
    finally:
        await caller.close()


def _forecast_price(
    inputs: Inputs, rows: list[dict[str, Any]], most: dict[str, int]
) -> dict[str, Any]:
    """Forecast calls and cost by these replies, or else by the most that a call can cost."""
    chosen, questions = inputs.document["settings"], len(inputs.questions)
    costs = [row["cost"] if row["state"] == "replied" else most[row["model"]] for row in rows]
    plan = Plan(
        workers=len(rows),
        k=chosen["k"],
        epsilon=chosen["epsilon"],
        delta=chosen["delta"],
        questions=questions,
        goal=draft_forecast.goal_of(chosen["algorithm"]),
    )
    row = draft_forecast.simulate_plan(
        plan, DefaultBelief(), chosen["algorithm"], not chosen["any_questions"]
    )
    calls = None if row is None else row.median
    whole = to_amount(sum(costs) * questions)
    cost = None if calls is None else to_amount(sum(costs)) * Decimal(calls) / len(costs)
    return {"calls": calls, "cost": cost, "most_calls": questions * len(rows), "most": whole}
