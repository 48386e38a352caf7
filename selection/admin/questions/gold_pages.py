"""Health of gold questions, and the confirmation page before one is changed."""

from collections.abc import Callable
from copy import copy
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.forms import HiddenInput
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from selection import reports
from selection.accounts import scoped
from selection.admin.forms import ReasonForm
from selection.admin.page import Page, csv_response, object_url
from selection.admin.safe_lookups import parse_id
from selection.errors import Refused
from selection.facts import Facts
from selection.grading.rules import split_into_answers
from selection.models import Question, Run
from selection.questions import corrections
from selection.questions.corrections import Gold

from .forms import CorrectionForm

PER_PAGE = 50


# -- health of the questions


class GoldPage(Page):
    """A set's questions that were dealt, the most suspicious first."""

    permission_required = ["selection.view_questionset", "selection.view_question"]
    location = ("<int:pk>/gold/", "gold")
    heading = "Gold health of {}"
    template_name = "selection/gold.html"

    def crumbs(self) -> list[tuple[str, str]]:
        run = self._chosen_run()
        above = [(str(run), object_url(run))] if run else []
        return [*above, (str(self.object), object_url(self.object))]

    def _chosen_run(self) -> Run | None:
        pk = parse_id(self.request.GET.get("run", ""))
        if pk is None or not self.may("selection.view_run"):
            return None
        return get_object_or_404(scoped(Run, self.request), pk=pk)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if "csv" not in request.GET:
            return super().get(request, *args, **kwargs)
        lines = reports.gold_health(self.object, self._chosen_run())
        rows = reports.gold_rows(lines)
        return csv_response(f"{self.object} gold health", list(reports.GOLD_COLUMNS), rows)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run, query = self._chosen_run(), self.request.GET
        lines = reports.gold_health(self.object, run)
        flagged = [line for line in lines if line.flags and not line.question.retired]
        search = query.get("q", "").strip().casefold()
        candidates = flagged if "flagged" in query else lines
        matching = [line for line in candidates if search in line.question.key.casefold()]
        other_filters = query.copy()
        other_filters.pop("page", None)
        return super().get_context_data(
            run=run,
            lines=len(lines),
            flagged=len(flagged),
            page=Paginator(matching, PER_PAGE).get_page(query.get("page")),
            query=other_filters.urlencode(),
            own=f"run={run.pk}" if run else "",
            search=query.get("q", ""),
            **kwargs,
        )


# -- changing a question


class ChangePage(Page):
    """The effect of a change on the runs, and a form for the reason."""

    permission_required = ["selection.change_question"]
    template_name = "selection/regrade.html"
    verb = ""
    change: Callable[..., list[Run]]

    @property
    def title(self) -> str:
        return f"{self.verb.capitalize()} “{self.object}”?"

    def crumbs(self) -> list[tuple[str, str]]:
        question: Question = self.object
        return [
            (str(question.question_set), object_url(question.question_set)),
            (str(question), object_url(question)),
        ]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return self._ask_reason(ReasonForm())

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        reason = ReasonForm(request.POST)
        if not reason.is_valid():
            return self._ask_reason(reason)
        return self._apply_change(reason.cleaned_data["why"])

    def _ask_reason(self, reason: ReasonForm, **more: Any) -> HttpResponse:
        context = self.get_context_data(reason=reason, verb=self.verb.capitalize(), **more)
        return self.render_to_response(
            context | {"touched": self._effects(more), "kind": self.verb}
        )

    def _effects(self, more: dict[str, Any]) -> list[Facts]:
        return corrections.preview_correction(self.object)

    def _apply_change(self, reason: str, *more: Any) -> HttpResponse:
        try:
            runs = type(self).change(self.object, *more, self.username, reason)
        except Refused as refusal:
            messages.error(self.request, str(refusal))
        else:
            names = ", ".join(f"“{run}”" for run in runs)
            message = f"Done. Graded anew: {names}." if runs else "Done. No run has asked it yet."
            messages.success(self.request, message)
        return redirect(object_url(self.object))


class CorrectPage(ChangePage):
    """Correction of a question that was dealt, sent by its form.

    Also reached by ``?accept=`` (one more accepted answer) and ``?instead=`` (the only one).
    """

    location = ("<int:pk>/correct/", "correct")
    verb, change = "correct", corrections.correct_question

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        question: Question = self.object
        addition = request.GET.get("accept", "").strip()
        replacement = request.GET.get("instead", "").strip()
        if not (addition or replacement):
            return redirect(object_url(question))
        parts = split_into_answers(replacement, question.grading) if replacement else []
        accepted = "\n".join(parts or [*question.accepted, addition])
        lines = {"accepted": accepted, "choices": "\n".join(question.choices)}
        data = {**CorrectionForm(instance=question).initial, **lines}
        return self._ask_confirmation(CorrectionForm(data, instance=copy(question)), ReasonForm())

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        form = CorrectionForm(request.POST, instance=copy(self.object))
        reason = ReasonForm(request.POST if "why" in request.POST else None)
        if form.is_valid() and reason.is_valid():
            return self._apply_change(reason.cleaned_data["why"], form.gold())
        return self._ask_confirmation(form, reason)

    def _ask_confirmation(self, form: CorrectionForm, reason: ReasonForm) -> HttpResponse:
        if not form.is_valid():
            for errors in form.errors.values():
                messages.error(self.request, " ".join(map(str, errors)))
            return redirect(object_url(self.object))
        for name in form.fields:
            form.fields[name].widget = HiddenInput()
            form.fields[name].help_text = ""
        gold, old = form.gold(), Gold.from_question(self.object)
        if gold == old:
            messages.info(self.request, "Nothing was changed: the question is like this already.")
            return redirect(object_url(self.object))
        changes = corrections.list_differences(old, gold)
        return self._ask_reason(reason, form=form, gold=gold, changes=changes)

    def _effects(self, more: dict[str, Any]) -> list[Facts]:
        return corrections.preview_correction(self.object, more["gold"])


class RetirePage(ChangePage):
    location = ("<int:pk>/retire/", "retire")
    verb, change = "retire", corrections.retire_question


class RestorePage(ChangePage):
    location = ("<int:pk>/restore/", "restore")
    verb, change = "restore", corrections.restore_question
