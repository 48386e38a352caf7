"""Import of a platform's submissions: workers that returned their place free their questions."""

import csv
import io
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from unfold.admin import ModelAdmin

from selection.admin.forms import UploadForm
from selection.admin.page import Page, object_url, page_urls
from selection.errors import Refused
from selection.imports import submissions
from selection.reports.durations import count_noun
from selection.runs import platform_submissions

MOST_NAMED = 10


class SubmissionsPage(Page):
    """Upload of the platform's export; workers that returned or timed out are withdrawn."""

    permission_required = ["selection.change_run"]
    below_object = True
    template_name = "selection/submissions.html"

    @property
    def title(self) -> str:
        return "Sync returned submissions"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", UploadForm())
        return super().get_context_data(back=object_url(self.object), **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = UploadForm(request.POST, request.FILES)
        if not form.is_valid():
            return self.render_to_response(self.get_context_data(form=form))
        cleaned = form.cleaned_data
        try:
            statuses = submissions.read_submissions(cleaned["content"], cleaned["name"])
            if "confirm" not in request.POST:
                return self._preview(statuses, cleaned["name"])
            result = platform_submissions.report_submissions(
                self.object, statuses, request.user.get_username()
            )
        except Refused as refusal:
            form.add_error(None, str(refusal))
            return self.render_to_response(self.get_context_data(form=form))
        messages.success(request, describe_result(result))
        return redirect(object_url(self.object))

    def _preview(self, statuses: dict[str, str], name: str) -> HttpResponse:
        """Show the changes, with the lines that cause them in the form."""
        effect = platform_submissions.preview(self.object, statuses)
        lines = io.StringIO()
        writer = csv.writer(lines)
        writer.writerow(["worker", "status"])
        writer.writerows(
            [key, statuses[key]] for key in statuses if platform_submissions.has_left(statuses[key])
        )
        return self.render_to_response(
            self.get_context_data(found=effect, name=name, lines=lines.getvalue())
        )


def describe_result(result: platform_submissions.FreedAssignments) -> str:
    text = f"Assignments of {count_noun(len(result.freed), 'worker')} released."
    if result.unknown:
        ending = ", …" if len(result.unknown) > MOST_NAMED else "."
        text += f" Not in this run: {', '.join(result.unknown[:MOST_NAMED])}{ending}"
    return text


def submission_urls(model_admin: ModelAdmin) -> list[URLPattern]:
    return page_urls(model_admin, {"<int:pk>/submissions/": ("submissions", SubmissionsPage)})
