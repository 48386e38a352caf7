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
    """Wrap a view in the admin's layout: add its context and style the form's fields."""

    @never_cache  # some pages show codes and keys
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        if isinstance(response, TemplateResponse):
            context = response.context_data or {}
            context.pop("object", None)  # the layout would derive its own breadcrumbs from it
            response.context_data = context_of(request, title) | {"crumbs": crumbs} | context
            _style_form(context.get("form"))
        return response

    return wrapped


def context_of(request: HttpRequest, title: str) -> dict[str, Any]:
    return admin.site.each_context(request) | {"title": title}


def _style_form(form: Any) -> None:
    for field in form.fields.values() if isinstance(form, forms.BaseForm) else ():
        kind = field.widget
        if isinstance(kind, forms.CheckboxInput):
            kind.attrs["class"] = " ".join(CHECKBOX_CLASSES)
        elif not kind.is_hidden:
            kind.attrs.pop("placeholder", None)  # redundant beside the label
            kind.attrs["class"] = " ".join(INPUT_CLASSES)


def render_refusal(
    request: HttpRequest, why: str, status: HTTPStatus = HTTPStatus.FORBIDDEN
) -> HttpResponse:
    context = context_of(request, "Not signed in") | {"why": why}
    return render(request, "signin/refused.html", context, status=status)
