"""django-allauth's pages in the admin's layout."""

from collections.abc import Callable, Sequence
from functools import wraps
from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.views.decorators.cache import never_cache
from unfold.widgets import CHECKBOX_CLASSES, INPUT_CLASSES

View = Callable[..., HttpResponseBase]


def wrap_in_layout(view: View, title: str, crumbs: Sequence[tuple[str, Any]] = ()) -> View:
    """With what the layout needs; fields as in the other forms."""

    @never_cache  # codes and keys are on some of them
    @wraps(view)
    def dressed(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if isinstance(response, TemplateResponse):
            context = response.context_data or {}
            context.pop("object", None)  # for it the layout would draw a trail of its own
            response.context_data = context_of(request, title) | {"crumbs": crumbs} | context
            _style_form(context.get("form"))
        return response

    return dressed


def context_of(request: HttpRequest, title: str) -> dict[str, Any]:
    return admin.site.each_context(request) | {"title": title}


def _style_form(form: Any) -> None:
    for field in form.fields.values() if isinstance(form, forms.BaseForm) else ():
        kind = field.widget
        if isinstance(kind, forms.CheckboxInput):
            kind.attrs["class"] = " ".join(CHECKBOX_CLASSES)
        elif not kind.is_hidden:
            kind.attrs.pop("placeholder", None)  # the label says it
            kind.attrs["class"] = " ".join(INPUT_CLASSES)


def render_refusal(
    request: HttpRequest, why: str, status: HTTPStatus = HTTPStatus.FORBIDDEN
) -> HttpResponse:
    """A page with one sentence that says why not, and the way back."""
    context = context_of(request, "Not signed in") | {"why": why}
    return render(request, "signin/refused.html", context, status=status)
