"""The forecast of a draft: cost, ending, and changes with which it can end."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from selection.admin.page import object_url
from selection.admin.wizard.forecast_rows import forecast_row, key_of
from selection.errors import Refused
from selection.facts import Facts
from selection.forecast import Forecast, draft_forecast, forecast_requests
from selection.forecast.draft_forecast import DraftForecast
from selection.models import Run
from selection.runs.roster import worker_prices
from selection.runs.settings import drafts
from selection.texts import count_noun
from selection.viewer_locale import format_figure

from .changes import ChangeView


def draft_facts(run: Run) -> dict[str, Any]:
    try:
        forecast = draft_forecast.draft_forecast(run)
    except Refused as refusal:
        return {"expected": None, "cannot_expect": str(refusal)}
    if forecast is None:
        return {"expected": None}
    row = forecast.own
    price = worker_prices.expected_price(run.pool, run.question_set, run.price)
    return {
        "expected": forecast,
        "job": forecast.job,
        "percent": round(100 * forecast.job.progress),
        "guaranteed": run.selector_class.guarantee.goal != "none",
        "believed": forecast_requests.stored_belief(forecast.job).words,
        "own": forecast_row(row, price, run.currency) if row else None,
        "basis": worker_prices.describe_basis(price, run.currency),
        "ways": possible_changes(run, forecast),
    }


def possible_changes(run: Run, forecast: DraftForecast) -> list[Facts]:
    """List the changes with which it is expected to end; none if it already is."""
    row, best, current_set = forecast.own, forecast.best, forecast.this_set
    if row is not None and row.feasible:
        return []
    changes = []
    if current_set is not None and current_set.feasible:
        label = f"Guarantee it on this question set: about {_answers_of(current_set)}"
        changes.append(Facts(words=label, sends={"accuracy": current_set.options["accuracy"]}))
    if best is not None and best.feasible and (row is None or key_of(best) != key_of(row)):
        label = f"Take {best.title}: about {_answers_of(best)}"
        changes.append(Facts(words=label, sends={"row": key_of(best)}))
    reachable = row.epsilon_at_end or 0.0 if row is not None else 0.0
    if row is not None and run.epsilon < reachable < 1:
        label = f"Allow ε = {format_figure(reachable)}"
        changes.append(Facts(words=label, sends={"epsilon": row.epsilon_at_end}))
    if row is not None and row.out_of_budget and not row.fixed_budget:
        changes.append(Facts(words="Take the budget's limit away", sends={"budget": "none"}))
    return changes


def _answers_of(row: Forecast) -> str:
    return count_noun(row.median or 0, "answer")


class ExpectedPage(ChangeView):
    """Buttons of the draft's page: request a forecast, or apply a change."""

    location = ("<int:pk>/expected/", "expected")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return redirect(object_url(self.object))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            if request.POST.get("do") == "change":
                return self._apply_change()
            draft_forecast.request_draft_forecast(self.object, self.username)
        except Refused as refusal:
            messages.error(request, str(refusal))
        return redirect(object_url(self.object))

    def _apply_change(self) -> HttpResponse:
        sent, changes = self.request.POST, dict[str, Any]()
        accuracy = sent.get("accuracy")
        if "row" in sent:
            changes["algorithm"], _, accuracy = sent["row"].partition("|")
        if "epsilon" in sent:
            changes["epsilon"] = _parse_number(sent["epsilon"])
        if "budget" in sent:
            changes["budget"] = None
        drafts.change_draft(self.object, changes, accuracy, self.username)
        return self.redirect_done("The draft is changed. No questions are sent before the start.")


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Http404 from None
