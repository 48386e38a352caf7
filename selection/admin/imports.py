"""Bringing a CSV file in: upload, preview, and only on the requester's word, take it.

The file waits in the database between preview and word, so that either may be another web server.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from unfold.admin import ModelAdmin

from selection import intake
from selection.errors import Refused
from selection.intake import catalog, files
from selection.intake.answers import Outside
from selection.intake.files import BadRow
from selection.models import Pool, QuestionSet, Run, Upload, grading

from .forms import UploadForm
from .joining import offer_joining
from .page import Page, csv_response, object_url

ROWS_SHOWN = 10
PROBLEMS_SHOWN = 200


@dataclass(frozen=True)
class Preview:
    """What would become of a file.

    count     rows that would be taken
    words     what would happen to them
    rows      the first of them, as texts in the order of the importer's columns
    problems  rows that would not be taken
    take      does it
    outside   how many rows answer none of their question's choices
    """

    count: int
    words: str
    rows: list[Sequence[str]]
    problems: list[BadRow]
    take: Callable[[], object]
    outside: int = 0


@dataclass(frozen=True)
class Importer:
    """A kind of file: what it looks like and what it is good for."""

    kind: Upload.Kind
    noun: str
    title: str
    format: str
    example: str
    columns: list[str]
    permission: str
    preview: Callable[[Any, str, str, Outside], Preview]


def preview_workers(pool: Pool, text: str, name: str, _: Outside) -> Preview:
    rows, problems = files.workers(text, name)
    catalog.refuse_swapped_workers(pool, rows)
    there = set(pool.workers.values_list("key", flat=True))
    known = sum(row.worker in there for row in rows)
    words = f"{_count(len(rows) - known, 'new worker')} would join the pool “{pool}”"
    if known:
        words += f", and {known} who are in it already would get the name and attributes given here"
    return Preview(
        len(rows),
        words + ".",
        [(row.worker, row.name, _attributes(row.attributes)) for row in rows[:ROWS_SHOWN]],
        problems,
        lambda: catalog.take_workers(pool, rows),
    )


def preview_questions(question_set: QuestionSet, text: str, name: str, _: Outside) -> Preview:
    parsed, problems = files.questions(text, name)
    rows, asked = catalog.sort_questions(question_set, parsed)
    there = set(question_set.questions.values_list("key", flat=True))
    known = sum(row.question in there for row in rows)
    words = f"{_count(len(rows) - known, 'new question')} would join the set “{question_set}”"
    if known:
        words += f", and {known} that are in it already would be replaced"
    return Preview(
        len(rows),
        words + ".",
        [
            (
                row.question,
                row.prompt,
                " | ".join(row.accepted),
                " | ".join(row.choices),
                grading.words(row.grading),
            )
            for row in rows[:ROWS_SHOWN]
        ],
        _in_order(problems, asked),
        lambda: catalog.take_questions(question_set, rows),
    )


def preview_answers(run: Run, text: str, name: str, outside: Outside) -> Preview:
    rows, problems = files.answers(text, name)
    sorting = intake.sort(run, rows, outside)
    bad = {problem.line for problem in sorting.problems}
    good = [row for row in rows if row.line not in bad]
    words = (
        f"{_count(len(sorting.answers), 'answer')} to questions that are out now would count at "
        f"once; {_count(len(sorting.recorded), 'answer')} would wait until the algorithm asks "
        "that worker that question."
    )
    return Preview(
        sorting.taken,
        words,
        [(row.worker, row.question, row.response) for row in good[:ROWS_SHOWN]],
        _in_order(problems, sorting.problems),
        lambda: intake.take(run, sorting),
        sorting.outside,
    )


WORKERS = Importer(
    Upload.Kind.WORKERS,
    "worker",
    "Import workers",
    "The first line names the columns: worker (the name your platform knows them by) and, if you "
    "like, name. Every further column is kept as an attribute of the worker.",
    "worker,name,country\nA1B2C3,Ada,UK\nD4E5F6,Grace,US",
    ["worker", "name", "attributes"],
    "selection.change_pool",
    preview_workers,
)
QUESTIONS = Importer(
    Upload.Kind.QUESTIONS,
    "question",
    "Import gold questions",
    "The first line names the columns: question (a name of your own), prompt (what the worker "
    "reads), answer and, if you like, choices. Separate several accepted answers, and the "
    "choices, with |. Without choices the worker types the answer. A column grading says how "
    "answers are compared, where not as text with capitals and spacing aside: number, "
    "number ±0.01, exact, case, spaces, no accents.",
    "question,prompt,answer,choices,grading\n"
    "q1,Is this a bird? https://example.org/1.jpg,yes,yes|no,\n"
    "q2,What is the capital of France?,Paris|paris city,,\n"
    "q3,How long is it in metres?,3.5,,number ±0.1",
    ["question", "prompt", "answer", "choices", "grading"],
    "selection.change_questionset",
    preview_questions,
)
ANSWERS = Importer(
    Upload.Kind.ANSWERS,
    "answer",
    "Import answers",
    "The first line names the columns: worker, question and response (or worker, task and label). "
    "Workers and questions must be those of this run.",
    "worker,question,response\nA1B2C3,q1,yes\nD4E5F6,q1,no",
    ["worker", "question", "response"],
    "selection.change_run",
    preview_answers,
)


def import_urls(model_admin: ModelAdmin, importer: Importer) -> list[URLPattern]:
    name = f"selection_{model_admin.model._meta.model_name}"
    options = {"model_admin": model_admin, "importer": importer}
    wrap = model_admin.admin_site.admin_view
    upload, preview = UploadPage.as_view(**options), PreviewPage.as_view(**options)
    return [
        path("<int:pk>/import/", wrap(upload), name=f"{name}_import"),
        path("<int:pk>/import/<uuid:upload>/", wrap(preview), name=f"{name}_preview"),
    ]


def to_import(request: HttpRequest, made: Model) -> HttpResponseRedirect | None:
    """After adding a pool or a set: on to its import, unless another way was asked for."""
    if {"_continue", "_addanother", "_popup"} & set(request.POST):
        return None
    return redirect(f"admin:selection_{made._meta.model_name}_import", made.pk)


class ImportPage(Page):
    importer: Importer = WORKERS  # as_view names the right one

    def has_permission(self) -> bool:
        return self.request.user.has_perm(self.importer.permission)

    @property
    def title(self) -> str:
        return self.importer.title

    def crumbs(self) -> list[tuple[str, str]]:
        return [(str(self.object), object_url(self.object))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(
            importer=self.importer, back=object_url(self.object), **kwargs
        )

    def address(self, step: str, *args: Any) -> str:
        model = self.model_admin.model._meta.model_name
        return reverse(f"admin:selection_{model}_{step}", args=[self.object.pk, *args])


class UploadPage(ImportPage):
    template_name = "selection/import.html"

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=UploadForm()))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = UploadForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                return redirect(self.address("preview", self._keep(form.cleaned_data)))
            except Refused as refusal:
                form.add_error(None, str(refusal))
        return self.render_to_response(self.get_context_data(form=form))

    def _keep(self, cleaned: dict[str, Any]) -> Any:
        """Keep the file for the preview. Raises Refused for one that cannot be read as a whole."""
        name, text = cleaned["name"], cleaned["text"]
        self.importer.preview(self.object, text, name, "refuse")
        upload = Upload.objects.create(
            kind=self.importer.kind, target=self.object.pk, name=name, text=text
        )
        return upload.pk


class PreviewPage(ImportPage):
    template_name = "selection/import_preview.html"

    def upload(self, **held: Any) -> Upload:
        return get_object_or_404(
            Upload.objects.filter(**held),
            pk=self.kwargs["upload"],
            kind=self.importer.kind,
            target=self.object.pk,
        )

    @property
    def outside(self) -> Outside:
        """What becomes of answers that are none of the choices, by the switch on the page."""
        asked = self.request.POST if self.request.method == "POST" else self.request.GET
        return "wrong" if asked.get("outside") == "wrong" else "refuse"

    def preview(self, upload: Upload) -> Preview:
        return self.importer.preview(self.object, upload.text, upload.name, self.outside)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        upload = Upload.objects.filter(pk=self.kwargs["upload"]).first()
        if upload is None:
            return self._gone()
        try:
            preview = self.preview(self.upload())
        except Refused as refusal:
            return self._refused(refusal)
        if "problems" in request.GET:
            rows = [{"line": row.line, "reason": row.why} for row in preview.problems]
            return csv_response("rows-not-taken", ["line", "reason"], rows)
        context = self.get_context_data(
            upload=upload,
            preview=preview,
            problems_shown=preview.problems[:PROBLEMS_SHOWN],
            wrong=self.outside == "wrong",
        )
        return self.render_to_response(context)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "cancel" in request.POST:
            self.upload().delete()
            return redirect(self.address("import"))
        try:
            taken = self._take()
        except Refused as refusal:
            return self._refused(refusal)
        if taken is None:
            return self._gone()
        noun = self.importer.noun
        messages.success(request, f"{_count(taken.count, noun)} imported.")
        if taken.problems:
            messages.warning(request, f"{_count(len(taken.problems), 'line')} not taken.")
        if isinstance(self.object, Pool):
            offer_joining(request, self.object)
        return redirect(object_url(self.object))

    @transaction.atomic
    def _take(self) -> Preview | None:
        """Take the file, sorted anew, and let go of it: of two clicks one finds it gone."""
        upload = Upload.objects.select_for_update().filter(pk=self.kwargs["upload"]).first()
        if upload is None or (upload.kind, upload.target) != (self.importer.kind, self.object.pk):
            return None
        preview = self.preview(upload)
        preview.take()
        upload.delete()
        return preview

    def _gone(self) -> HttpResponseRedirect:
        messages.info(self.request, "This file has been imported or put aside already.")
        return redirect(object_url(self.object))

    def _refused(self, refusal: Refused) -> HttpResponseRedirect:
        messages.error(self.request, str(refusal))
        return redirect(self.address("import"))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _attributes(attributes: dict[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in attributes.items())


def _in_order(*lists: list[BadRow]) -> list[BadRow]:
    return sorted((problem for problems in lists for problem in problems), key=lambda p: p.line)
