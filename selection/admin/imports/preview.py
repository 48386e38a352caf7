"""A gold question as a worker sees it, without a way to submit an answer."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from selection.admin.page import Page, object_url
from selection.worker import page

# As strict as the worker's own page, and forms cannot be sent.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' https:; media-src 'self' https:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


class PreviewQuestion(Page):
    permission_required = ["selection.view_question"]
    location = ("<int:pk>/preview/", "preview")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        question, instructions = page.preview_question(self.object)
        context = {
            "question": question,
            "instructions": instructions,
            "back": object_url(self.object),
        }
        response = render(request, "work/preview.html", context)
        response.headers["Content-Security-Policy"] = POLICY
        return response
