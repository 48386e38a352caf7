"""Import of a platform's submissions: workers that returned their place free their questions."""

import csv
import io
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from selection.admin.forms import UploadForm
from selection.admin.page import FormPage, object_url
from selection.imports import submissions
from selection.runs.roster import platform_submissions
from selection.texts import count_noun

MOST_NAMED = 10


class SubmissionsPage(FormPage):
    """Upload of the platform's export; workers that returned or timed out are withdrawn."""

    permission_required = ["selection.change_run"]
    location = ("<int:pk>/submissions/", "submissions")
    below_object = True
    template_name = "selection/submissions.html"
    title = "Sync returned submissions"
    form_class = UploadForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(back=object_url(self.object), **kwargs)

    def apply_form(self, form: UploadForm) -> HttpResponse:
        cleaned = form.cleaned_data
        statuses = submissions.read_submissions(cleaned["content"], cleaned["name"])
        if "confirm" not in self.request.POST:
            return self._preview(statuses, cleaned["name"])
        result = platform_submissions.report_submissions(self.object, statuses, self.username)
        messages.success(self.request, describe_result(result))
        return redirect(object_url(self.object))

    def _preview(self, statuses: dict[str, str], name: str) -> HttpResponse:
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
