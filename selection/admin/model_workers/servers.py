"""Model servers: list, form with a key that is written and never shown, and a list of models."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from selection.admin import styled
from selection.admin.job_page import JobMixin, follow_job
from selection.admin.page import ActionPage, CountedDeletionMixin, page_urls
from selection.admin.scope import ScopedAdmin
from selection.errors import Refused
from selection.model_workers import endpoints, testing
from selection.models import ModelServer

MOST_NAMED = 100


class ModelServerForm(forms.ModelForm):
    key = styled.PasswordField(
        label="API key",
        required=False,
        strip=True,
        attrs={"autocomplete": "off"},
        help_text="It is stored encrypted and never shown. Leave it blank to keep the stored one.",
    )
    drop_key = styled.BooleanField(label="Remove the stored API key", required=False)

    class Meta:
        model = ModelServer
        fields = list(endpoints.SERVER_FIELDS)
        field_classes = dict.fromkeys(("extra_headers", "extra_query"), styled.JSONField)
        widgets = {
            "url": UnfoldAdminTextInputWidget(
                {"placeholder": "https://api.openai.com/v1", "inputmode": "url"}
            ),
            "extra_headers": UnfoldAdminTextareaWidget({"rows": 3}),
            "extra_query": UnfoldAdminTextareaWidget({"rows": 3}),
        }

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.errors:
            return
        key = self.cleaned_data["key"] or ("" if self.cleaned_data.get("drop_key") else None)
        try:
            endpoints.set_server(self.instance, {}, key)
        except endpoints.FieldRefused as refusal:
            self.add_error(refusal.field, refusal.why)
        except Refused as refusal:
            self.add_error(None if self.instance.pk else "name", str(refusal))


@admin.register(ModelServer)
class ModelServerAdmin(CountedDeletionMixin, ScopedAdmin):
    """Admin of model servers."""

    form = ModelServerForm
    list_display = ["name", "url", "key_state", "workers", "listed"]
    search_fields = ["name"]
    fields = ["name", "url", "key", "drop_key", *endpoints.SERVER_FIELDS[2:]]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Offer to remove a key only if there is one; show no key field to mere viewers."""
        absent = set()
        if obj is None or not obj.key_encrypted:
            absent = {"drop_key"}
        if obj is not None and not self.has_change_permission(request, obj):
            absent = {"key", "drop_key"}
        return [name for name in super().get_fields(request, obj) if name not in absent]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ModelServer]:
        return super().get_queryset(request).annotate(size=Count("endpoints"))

    def get_list_display(self, request: HttpRequest) -> Any:
        columns = super().get_list_display(request)
        may_list = self.has_change_permission(request)
        return [name for name in columns if may_list or name != "listed"]

    @display(description="API key", label={"stored": "success", "none": "info"})
    def key_state(self, server: ModelServer) -> str:
        return server.key_variable or ("stored" if server.key_encrypted else "none")

    @display(description="workers")
    def workers(self, server: ModelServer) -> int:
        return int(server.size)  # type: ignore[attr-defined]

    @display(description="models")
    def listed(self, server: ModelServer) -> str:
        url = reverse("admin:selection_modelserver_models", args=[server.pk])
        return format_html('<a href="{}">List models</a>', url)

    def contents(self, item: ModelServer) -> dict[str, int]:
        return {"servers": 1}

    def uses(self, item: ModelServer) -> Iterable[str]:
        keys = item.endpoints.values_list("worker__key", flat=True)[:MOST_NAMED]
        return (f"“{key}” is a model of the server “{item}”" for key in keys)

    def get_urls(self) -> list[URLPattern]:
        return page_urls(self, ListedModels) + super().get_urls()


class ListedModels(JobMixin, ActionPage):
    """The names of the models that the server lists: it is asked on request."""

    permission_required = ["selection.change_modelserver"]
    location = ("<int:pk>/models/", "models")
    heading = "Models of {}"
    below_object = True
    template_name = "selection/model_names.html"
    job_kinds = (testing.MODELS,)

    def _ask(self) -> HttpResponse:
        job = testing.request_server_models(self.object, self.username)
        return follow_job(self.request, job)

    actions = {"ask": _ask}
