"""A run's own page with its guarantee and workers; its buttons and downloads."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils.text import slugify
from unfold.admin import ModelAdmin

from selection import connectors, exports, reports, viewer_locale
from selection.accounts import MEMBER, scoped
from selection.admin import styled
from selection.admin.connectors.run_page import WherePage, connection_facts
from selection.admin.imports.submissions import SubmissionsPage
from selection.admin.model_workers.run_page import (
    CheckModelsPage,
    RunCalls,
    format_spending,
    model_facts,
)
from selection.admin.page import Page, csv_response, file_response, object_url, page_urls
from selection.answers import presence
from selection.errors import Refused
from selection.model_workers.spending import with_models
from selection.models import Run
from selection.questions import media
from selection.runs import lifecycle, money
from selection.runs.roster import eligibility
from selection.runs.settings import algorithm_choices, validation
from selection.texts import count_noun
from selection.worker import links

from . import bring_in, changes, forecast_draft, live, table
from .changes import CopyPage
from .live import LiveView
from .prolific import ProlificPage
from .replacement import ReplacePage
from .worker_card import WorkerExplanationPage, WorkerPage
from .worker_texts import WorkerTextsPage

MOST_NAMED = 10  # missing files in a message
# Formats with a button on the page; the others are in a list.
BUTTONS = ("csv", "xlsx")
DONE_MESSAGES = {
    "start": "The run has started: questions are being assigned.",
    "pause": "The run is paused: no question is assigned and no answer counted.",
    "resume": "The run continues.",
    "stop": "The run has ended.",
    "reopen": "The run continues: questions are being assigned again.",
    "archive": "The run is archived.",
    "unarchive": "The run is ready for review again.",
}


class RunPage(Page):
    """State of the run. While it is active, live.js fetches the changes (LiveView)."""

    permission_required = ["selection.view_run"]
    location = ("<int:pk>/", "page")
    template_name = "selection/run.html"

    @cached_property
    def object(self) -> Any:
        """Load the run, noting models that take part, and connections."""
        rows = Run.objects.select_related("pool", "question_set").annotate(
            with_models=with_models(),
            with_tools=connectors.with_tools(),
        )
        return get_object_or_404(scoped(rows, self.request, MEMBER), pk=self.kwargs["pk"])

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run: Run = self.object
        facts = (
            self._draft_context(run)
            if run.status == Run.Status.DRAFT
            else self._running_context(run)
        )
        facts |= {
            "run": run,
            "needs": run.selector_class.needs,  # a template would call the class
            "extras": algorithm_choices.describe_options(run),
            "price": money.format_price(run),
            # Files with decimal commas fit Excel; a CSV file may open in one column there.
            "excel_first": viewer_locale.decimal_mark() == ",",
            **model_facts(run),
            **connection_facts(run),
        }
        return super().get_context_data(**facts)

    def _draft_context(self, run: Run) -> dict[str, Any]:
        workers = eligibility.count_eligible(run)
        questions = run.question_set.questions.count()
        return {
            "workers": workers,
            "questions": questions,
            "missing_media": media.missing_in_run(run),
            "refusals": list(validation.validate_stored_run(run, workers).values()),
            "guarantee": reports.guarantee_of_run(run),
            "citation": run.selector_class.guarantee.citation,
            "is_valid": not validation.validate_run(run, workers),
            "accuracy": algorithm_choices.describe_accuracy(run),
            "kept_out": run.pool.workers.count() - workers,
            "met": eligibility.count_affected(run),
            "strangers": eligibility.unknown_worker_keys(run),
            "money": format_spending(run),
            **forecast_draft.draft_facts(run),
        }

    def _running_context(self, run: Run) -> dict[str, Any]:
        facts, may_change = (
            live.live_context(run, self.request.GET),
            self.may("selection.change_run"),
        )
        return facts | {
            "pieces": live.render_pieces(facts),
            "attributes": table.attribute_values(run),
            "filtered": any(self.request.GET.get(name) for name in table.FILTERS),
            "formats": self._allowed_formats(),
            **changes.change_facts(run, may_change),
            **bring_in.entrance_facts(run, may_change, self.object.with_tools),
        }

    def _allowed_formats(self) -> dict[str, list[tuple[exports.Format, str]]]:
        """List by audience the formats without a button of their own that the user may download.

        With each comes the reason why the pay must be entered for it, or "".
        """
        return {
            group: [
                (each, each.lacks(self.object))
                for each in formats
                if each.name not in BUTTONS and all(map(self.may, each.asks))
            ]
            for group, formats in exports.AUDIENCES.items()
        }


class RunVerb(Page):
    """Buttons such as start and pause. Stopping is final, so a page asks for confirmation."""

    permission_required = ["selection.change_run"]
    location = ("<int:pk>/do/<slug:verb>/", "verb")
    heading = "Stop {}?"
    below_object = True
    template_name = "selection/run_stop.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.kwargs["verb"] != "stop" or self.object.status == Run.Status.ENDED:
            return redirect(object_url(self.object))
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        verb = self.kwargs["verb"]
        if verb not in lifecycle.MOVES:
            raise Http404
        try:
            lifecycle.MOVES[verb](self.object, self.username)
        except Refused as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(request, DONE_MESSAGES[verb])
            if verb == "start":
                self._warn_of_missing_media()
        return redirect(object_url(self.object))

    def _warn_of_missing_media(self) -> None:
        for question_set, names in media.missing_in_run(self.object).items():
            files = count_noun(len(names), "media file")
            text = f"“{question_set}” lacks {files}: {', '.join(names[:MOST_NAMED])}."
            messages.warning(self.request, text)


class Download(Page):
    """A file made of a started run: a draft has no workers."""

    def get_permission_required(self) -> Sequence[str]:
        return ["selection.view_run", *EXTRA_PERMISSIONS[self.kwargs["file"]]]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        run: Run = self.object
        if run.status == Run.Status.DRAFT:
            messages.error(request, "There is nothing to download before the run has started.")
            return redirect(object_url(run))
        style = exports.choose_style(request.GET.get("csv", ""))
        with viewer_locale.formatting_for(None):
            return FILES[self.kwargs["file"]](run, style)


def _links_csv(run: Run, style: exports.CsvStyle) -> HttpResponseBase:
    candidates = run.candidates.filter(skill=0).select_related("worker").order_by("worker__key")
    rows = [
        {
            "worker": candidate.worker.key,
            "name": candidate.worker.name,
            "email": candidate.worker.mail_address,
            "link": links.worker_url(candidate.pk, candidate.link_version),
        }
        for candidate in candidates
    ]
    return csv_response(f"{run} links", ["worker", "name", "email", "link"], rows, style)


def _open_csv(run: Run, style: exports.CsvStyle) -> HttpResponseBase:
    columns, rows = reports.open_columns(run), reports.open_table(run)
    presence.record_handed(row["assignment"] for row in rows)
    return csv_response(f"{run} open questions", columns, rows, style)


def _dump_response(run: Run, _: exports.CsvStyle) -> HttpResponseBase:
    pieces = map(str.encode, reports.dump_text(run))
    name = f"{slugify(f'{run} dump') or 'dump'}.json"
    return file_response(exports.File(name, "application/json", pieces))


FILES = {
    "links.csv": _links_csv,
    "open.csv": _open_csv,
    "dump.json": _dump_response,
}
# A worker's link lets its holder answer as that worker, so it needs the right to change the run.
EXTRA_PERMISSIONS = {
    "links.csv": ["selection.change_run"],
    "open.csv": ["selection.view_question"],
    "dump.json": ["selection.view_answer", "selection.view_question", "selection.view_worker"],
}


class PayForm(forms.Form):
    """A worker's pay per answer, if a file is to use another one than the run's."""

    pay = styled.DecimalField(required=False, min_value=0, max_digits=12, decimal_places=4)


class Export(Page):
    """The run's results in one of the export formats."""

    location = ("<int:pk>/export/<slug:format>/", "export")

    def get_permission_required(self) -> Sequence[str]:
        export_format = exports.FORMATS.get(self.kwargs["format"])
        return ["selection.view_run", *(export_format.asks if export_format else ())]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.kwargs["format"] not in exports.FORMATS:
            raise Http404
        form = PayForm(request.GET)
        if not form.is_valid():
            messages.error(request, f"The pay: {form.errors['pay'][0]}")
            return redirect(object_url(self.object))
        pay = form.cleaned_data["pay"]
        try:
            style = exports.choose_style(request.GET.get("csv", ""))
            file = exports.make_file(self.object, self.kwargs["format"], pay=pay, style=style)
            return file_response(file)
        except Refused as refusal:
            messages.error(request, str(refusal))
            return redirect(object_url(self.object))


class Report(Page):
    """The report as a page, for a run in any state."""

    permission_required = ["selection.view_run"]
    location = ("<int:pk>/report/", "report")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        page = exports.render_page(self.object, object_url(self.object))
        return HttpResponse(page, headers={"Content-Security-Policy": exports.content_policy()})


PAGES: tuple[type[Page], ...] = (
    RunPage,
    LiveView,
    WorkerPage,
    WorkerExplanationPage,
    changes.WorkerChange,
    changes.ChangePage,  # before RunVerb, whose addresses have the same form
    RunVerb,
    CopyPage,
    ReplacePage,
    forecast_draft.ExpectedPage,
    ProlificPage,
    WorkerTextsPage,
    SubmissionsPage,
    Report,
    RunCalls,
    CheckModelsPage,
    WherePage,
    Export,
)


def run_urls(model_admin: ModelAdmin) -> list[URLPattern]:
    download = model_admin.admin_site.admin_view(Download.as_view(model_admin=model_admin))
    downloads = [
        path(f"<int:pk>/{file}", download, {"file": file}, name=_url_name(file)) for file in FILES
    ]
    return page_urls(model_admin, *PAGES) + downloads


def _url_name(file: str) -> str:
    return "selection_run_" + file.replace(".", "_").replace("-", "_")
