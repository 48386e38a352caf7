"""Webhooks: list, form, deliveries, and buttons to test and to replay."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.html import format_html
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextInputWidget

from selection.admin.page import Page, page_urls
from selection.admin.safe_lookups import parse_id
from selection.admin.scope import ScopedAdmin
from selection.errors import Refused
from selection.http import safe_http
from selection.models import Delivery, Webhook
from selection.webhooks import registration

PER_PAGE = 50
QUEUED = "The message is queued; its result appears below in a moment."


class WebhookForm(forms.ModelForm):
    events = forms.MultipleChoiceField(
        label="Events",
        choices=[(kind.value, f"{kind.value}: {kind.label}") for kind in Webhook.Event],
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )

    class Meta:
        model = Webhook
        fields = ["url", "events", "enabled"]
        widgets = {
            "url": UnfoldAdminTextInputWidget(
                {"placeholder": "https://example.org/crowdselect", "inputmode": "url"}
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.instance.pk:
            self.initial["events"] = Webhook.Event.values

    def clean_url(self) -> str:
        return str(self._checked(safe_http.check_url, self.cleaned_data["url"]))

    def clean_events(self) -> list[str]:
        events = self.cleaned_data["events"]
        self._checked(registration.validate_events, events)
        return list(events)

    def _checked(self, check: Any, value: Any) -> Any:
        try:
            return check(value)
        except Refused as refusal:
            raise ValidationError(str(refusal)) from refusal


@admin.register(Webhook)
class WebhookAdmin(ScopedAdmin):
    """Admin of webhooks. A secret is shown once: on creation and on renewal."""

    form = WebhookForm
    list_display = ["url", "tells", "state", "sent"]
    fields = ["url", "events", "enabled"]

    @display(description="tells")
    def tells(self, hook: Webhook) -> str:
        return ", ".join(hook.events)

    @display(description="state", label={"on": "success", "off": "danger"})
    def state(self, hook: Webhook) -> str:
        return "on" if hook.enabled else "off"

    @display(description="sent")
    def sent(self, hook: Webhook) -> str:
        return format_html('<a href="{}">Deliveries, test, secret</a>', deliveries_url(hook))

    def save_model(
        self, request: HttpRequest, obj: Webhook, form: WebhookForm, change: bool
    ) -> None:
        if change:
            registration.save_webhook(obj, turned_on=obj.enabled and "enabled" in form.changed_data)
        else:
            registration.add_webhook(obj)

    def response_add(
        self, request: HttpRequest, obj: Webhook, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self.render_secret_once(request, obj)

    def response_change(self, request: HttpRequest, obj: Webhook) -> HttpResponse:
        return redirect(deliveries_url(obj))

    def render_secret_once(self, request: HttpRequest, hook: Webhook) -> HttpResponse:
        context = self.admin_site.each_context(request) | {
            "title": "The secret of this webhook",
            "secret": hook.secret,
            "hook": hook,
            "next": deliveries_url(hook),
        }
        return TemplateResponse(request, "selection/webhook_secret.html", context)

    def get_urls(self) -> list[URLPattern]:
        return page_urls(self, DeliveriesPage) + super().get_urls()


def deliveries_url(hook: Webhook) -> str:
    return reverse("admin:selection_webhook_deliveries", args=[hook.pk])


class DeliveriesPage(Page):
    """A webhook's deliveries, the latest first, with buttons to test, replay and renew."""

    permission_required = ["selection.change_webhook"]
    location = ("<int:pk>/deliveries/", "deliveries")
    template_name = "selection/webhook.html"
    title = "Messages"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        deliveries: QuerySet[Delivery] = self.object.deliveries.all()
        kind = self.request.GET.get("kind", "")
        if kind in {*Webhook.Event.values, Webhook.TEST}:
            deliveries = deliveries.filter(kind=kind)
        page = Paginator(deliveries, PER_PAGE).get_page(self.request.GET.get("page"))
        kinds = [*Webhook.Event.values, Webhook.TEST]
        return super().get_context_data(page=page, kinds=kinds, kind=kind, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        action = request.POST.get("do", "")
        if action == "renew":
            registration.renew_secret(self.object)
            response: HttpResponse = self.model_admin.render_secret_once(request, self.object)
            return response
        try:
            self._apply_action(action, request.POST.get("delivery", ""))
            messages.success(request, QUEUED)
        except Refused as refusal:
            messages.error(request, str(refusal))
        return redirect(deliveries_url(self.object))

    def _apply_action(self, action: str, delivery: str) -> None:
        if action == "test":
            registration.send_test(self.object)
        elif action == "replay":
            rows = self.object.deliveries.select_related("webhook")
            registration.replay_delivery(get_object_or_404(rows, pk=parse_id(delivery) or 0))
        else:
            raise Http404
