"""The check before an evaluation: one call of each model, and the price of the whole."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from selection.forecast import draft_forecast
from selection.model_workers import adjustments, expected_costs, testing
from selection.model_workers.prices import to_amount
from selection.models import Endpoint, ModelCall, Run
from selection.runs import money
from selection.runs.roster import model_checks
from selection.texts import counted

from .evaluation_result import CHECKED, CHECKED_HEAD, describe_call


@dataclass(frozen=True)
class Check:
    """calls: of each model, by its name; notices: changes of the requests; price: of the run."""

    calls: list[ModelCall]
    notices: dict[str, str]
    price: dict[str, Any]
    currency: str

    @property
    def is_good(self) -> bool:
        return all(call.answer for call in self.calls)

    @property
    def lines(self) -> list[str]:
        lines = [CHECKED.format(**CHECKED_HEAD).rstrip()]
        lines += [
            CHECKED.format(
                name=call.worker.key, problem=call.problem, **describe_call(call, self.currency)
            ).rstrip()
            for call in self.calls
        ]
        lines += [f"“{name}”: {notice}" for name, notice in self.notices.items()]
        if not self.notices:
            lines.append("The servers accepted all parameters as they are.")
        return [*lines, self._describe_price(), self._describe_verdict()]

    @property
    def document(self) -> dict[str, Any]:
        fields = ("answer", "tokens_in", "tokens_out", "milliseconds", "problem", "reply")
        models = [
            {"model": call.worker.key, "cost": str(to_amount(call.cost))}
            | {name: getattr(call, name) for name in fields}
            | {"notice": self.notices.get(call.worker.key, "")}
            for call in self.calls
        ]
        price = {name: str(value) for name, value in self.price.items() if value is not None}
        return {"passed": self.is_good, "models": models, "forecast": price}

    def _describe_price(self) -> str:
        whole = f"at most {counted(self.price['most_calls'], 'call')}"
        most = money.format_call_cost(self.price["most"], self.currency)
        if self.price["calls"] is None:
            return f"The evaluation: {whole}, {most}."
        usual = counted(self.price["calls"], "call")
        cost = money.format_call_cost(self.price["cost"], self.currency)
        return f"The evaluation: about {usual}, {cost} in simulated runs; {whole}, {most}."

    def _describe_verdict(self) -> str:
        failed = [call.worker.key for call in self.calls if not call.answer]
        if not failed:
            return "Each model gave an answer. The same command without --check starts the run."
        names = ", ".join(f"“{name}”" for name in failed[:10])
        return f"No answer of {counted(len(failed), 'model')}: {names}. Mend them, or use --drop."


def check_models(run: Run) -> Check:
    """Ask each model the first question, outside of the run. Raises Refused without the money."""
    draft = run.status == Run.Status.DRAFT
    models = list(model_checks.list_models(run) if draft else _list_present(run))
    question = model_checks.validate_check(run, models)
    calls = sorted(testing.make_test_calls(models, question), key=lambda call: call.worker.key)
    called = list(Endpoint.objects.filter(pk__in=[model.pk for model in models]))
    notices = {one.worker.key: adjustments.describe_server(one) for one in called}
    said = {name: notice for name, notice in sorted(notices.items()) if notice}
    return Check(calls, said, forecast_price(run, called), run.currency)


def _list_present(run: Run) -> QuerySet[Endpoint]:
    rows = Endpoint.objects.filter(worker__candidates__run=run, worker__candidates__gone="")
    return rows.select_related("worker", "server").distinct()


def forecast_price(run: Run, models: list[Endpoint]) -> dict[str, Any]:
    """Forecast calls and cost by the tokens of the replies so far; None without a simulation."""
    costs = expected_costs.estimate_costs(models, run.question_set)
    questions = run.question_set.questions.filter(retired=None).count()
    each = sum((one.amount for one in costs.values()), Decimal(0))
    row = draft_forecast.simulate_draft(run) if run.status == Run.Status.DRAFT else None
    calls = None if row is None else row.median
    cost = None if calls is None else each * calls / len(models)
    most = {"most_calls": questions * len(models), "most": each * questions}
    return {"calls": calls, "cost": cost, **most}
