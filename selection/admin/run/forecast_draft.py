"""What a draft is expected to cost, whether it can end, and the ways out where it cannot."""

from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from unfold.admin import ModelAdmin

from selection.admin.page import object_url
from selection.admin.wizard.forecast_rows import cost_words, describe_ending, key_of
from selection.algorithms import describe_variant
from selection.errors import Refused
from selection.forecast import Forecast, draft_forecast, forecast_requests
from selection.forecast.draft_forecast import DraftForecast
from selection.models import Run
from selection.runs import drafts

from .changes import ChangeView


@dataclass(frozen=True)
class PossibleChange:
    """A button that changes the draft so that it can end: its words, and what it sends."""

    words: str
    sends: dict[str, Any] = field(default_factory=dict)


def draft_facts(run: Run) -> dict[str, Any]:
    """What the draft's page shows of it."""
    found = draft_forecast.draft_forecast(run)
    if found is None:
        return {"expected": None, "cannot_expect": _draft_refusal(run)}
    row = found.own
    band = (row.answers or [row.median or 0] * 3) if row else []
    said = describe_ending(row, found.plan.questions) if row else ("", "")
    return {
        "expected": found,
        "planning": found.planning,
        "percent": round(100 * forecast_requests.forecast_progress(found.planning)),
        "believed": forecast_requests.stored_belief(found.planning).words,
        "ends": said[0],
        "verdict": said[1],
        "costs": [cost_words(many, run.price, run.currency) for many in band],
        "ways": possible_changes(run, found),
    }


def _draft_refusal(run: Run) -> str:
    try:
        draft_forecast.plan_of_draft(run)
    except Refused as refusal:
        return str(refusal)
    return ""


def possible_changes(run: Run, found: DraftForecast) -> list[PossibleChange]:
    """The changes with which it is expected to end; none where it does as it is."""
    row, best, this_set = found.own, found.best, found.this_set
    if row is not None and row.feasible:
        return []
    made = []
    if this_set is not None and this_set.feasible:
        words = f"Promise it on this question set: about {this_set.median:,} answers"
        made.append(PossibleChange(words, {"accuracy": this_set.options["accuracy"]}))
    if best is not None and best.feasible and (row is None or key_of(best) != key_of(row)):
        words = f"Take {best.title}: about {best.median:,} answers"
        made.append(PossibleChange(words, {"row": key_of(best)}))
    if row is not None and run.epsilon < (row.epsilon_at_end or 0.0) < 1:
        words = f"Allow ε = {row.epsilon_at_end:g}"
        made.append(PossibleChange(words, {"epsilon": row.epsilon_at_end}))
    if row is not None and row.out_of_budget and not row.fixed_budget:
        made.append(PossibleChange("Take the budget's limit away", {"budget": "none"}))
    return made


def price_algorithms(run: Run) -> dict[str, Any]:
    """For a run in a form: by algorithm what it would cost, in words; what fits, and what would
    go wrong with its own. Empty where nothing can be forecast."""
    try:
        rows = draft_forecast.quick_forecast(run)
    except Refused:
        return {}
    if not rows:
        return {}
    usual = [row for row in rows if not describe_variant(row.options)]
    asked = [row for row in rows if describe_variant(row.options) == describe_variant(run.options)]
    shown = {row.algorithm: row for row in [*rows, *usual, *asked]}
    own, best = shown.get(run.algorithm), rows[0]
    return {
        "prices": {name: _describe_price(run, row) for name, row in shown.items()},
        "fits": {
            "algorithm": best.algorithm,
            "accuracy": best.options.get("accuracy", ""),
            "words": f"Recommended for these: {best.title}, {_describe_price(run, best)}.",
            "ends": best.feasible,
        },
        "warning": "" if own is None or own.feasible else own.why,
    }


def _describe_price(run: Run, row: Forecast) -> str:
    """Return "about 200 answers, 10.00 €; finished in 3 of 3 simulations"."""
    if row.median is None:
        return row.cannot
    cost = cost_words(row.median, run.price, run.currency)
    return f"about {row.median:,} answers{f', {cost}' if cost else ''}; {row.ends}"


class ExpectedPage(ChangeView):
    """Buttons of the draft's page: work it out, or take a way out. There is nothing to get."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return redirect(object_url(self.object))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            if request.POST.get("do") == "change":
                return self._apply_change()
            draft_forecast.request_draft_forecast(self.object, self.who)
        except Refused as refusal:
            messages.error(request, str(refusal))
        return redirect(object_url(self.object))

    def _apply_change(self) -> HttpResponse:
        sent, wanted = self.request.POST, dict[str, Any]()
        meant = sent.get("accuracy")
        if "row" in sent:
            wanted["algorithm"], _, meant = sent["row"].partition("|")
        if "epsilon" in sent:
            wanted["epsilon"] = _parse_number(sent["epsilon"])
        if "budget" in sent:
            wanted["budget"] = None
        drafts.change_draft(self.object, wanted, meant, self.who)
        return self.done("The draft is changed; nothing goes out until you start it.")


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Http404 from None


def expected_urls(model_admin: ModelAdmin) -> list[URLPattern]:
    page = model_admin.admin_site.admin_view(ExpectedPage.as_view(model_admin=model_admin))
    return [path("<int:pk>/expected/", page, name="selection_run_expected")]
