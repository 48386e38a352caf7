"""E-mail to a run's workers: invitations, their outcomes, and the texts."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from crowdselect.mail import invitations, texts
from crowdselect.mail.models import MOST_REMIND_HOURS, Mail
from selection.admin import styled
from selection.admin.page import FormPage, Page
from selection.errors import Refused
from selection.models import Run
from selection.texts import count_noun

MOST_SHOWN = 100
# The buttons of the page, with the result in words.
ACTIONS = {
    "cancel": (invitations.cancel_waiting, "will not be sent"),
    "retry": (invitations.retry_failed, "will be sent again"),
}
FIELDS = [(code, kind) for code in dict(settings.LANGUAGES) for kind in texts.KINDS]


class MailForm(forms.Form):
    """The reminder's time, and a subject and body for each language and kind."""

    remind_hours = styled.IntegerField(
        label="Hours until the reminder",
        min_value=0,
        max_value=MOST_REMIND_HOURS,
        help_text=(
            "Invited workers get one reminder if they have not started by then. 0: no reminder."
        ),
    )

    language = styled.ChoiceField(
        label="Language of workers whose attributes name none", choices=settings.LANGUAGES
    )

    def __init__(self, run: Run, *args: Any) -> None:
        chosen = texts.read_settings(run)
        super().__init__(*args)
        language = texts.suggest_language(run)
        self.initial = {"remind_hours": chosen.remind_hours, "language": language}
        for language, kind in FIELDS:
            text = texts.text_of(chosen, kind, language)
            label = Mail.Kind(kind).label.capitalize()
            self.fields[f"{language}_{kind}_subject"] = styled.CharField(
                label=f"{label}: subject",
                required=False,
                initial=text.subject,
                max_length=texts.LONGEST_SUBJECT,
                attrs={"lang": language, "dir": "auto"},
            )
            self.fields[f"{language}_{kind}_body"] = styled.TextField(
                label=f"{label}: text",
                required=False,
                initial=text.body,
                max_length=texts.LONGEST_BODY,
                attrs={"rows": 11, "lang": language, "dir": "auto"},
            )

    def languages(self) -> Iterator[tuple[str, list[Any], bool]]:
        """Yield each language's name, its fields, and True if one of them has an error."""
        for code, name in settings.LANGUAGES:
            fields = [self[field] for field in self.fields if field.startswith(f"{code}_")]
            yield name, fields, any(field.errors for field in fields)

    def texts(self) -> texts.Texts:
        cleaned = self.cleaned_data
        chosen: texts.Texts = {}
        for language, kind in FIELDS:
            name = f"{language}_{kind}"
            text = texts.Text(cleaned[f"{name}_subject"], cleaned[f"{name}_body"])
            chosen.setdefault(language, {})[kind] = text
        return chosen


class MailPage(FormPage):
    permission_required = ["selection.change_run"]
    location = ("<int:pk>/mail/", "mail")
    heading = "E-mail to the workers of {}"
    below_object = True
    template_name = "mail/run_mail.html"

    def build_form(self, *data: Any) -> MailForm:
        return MailForm(self.object, *data)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run: Run = self.object
        failed = invitations.failed_mails(run)
        counts = invitations.count_states(run)
        return super().get_context_data(
            **kwargs,
            run=run,
            plan=invitations.plan_invitations(run),
            refusal=_refusal(run),
            counts={Mail.Kind(kind).label: _labelled(states) for kind, states in counts.items()},
            waiting=sum(states.get(Mail.State.WAITING, 0) for states in counts.values()),
            failed=failed.order_by("-pk")[:MOST_SHOWN],
            retryable=invitations.retryable(run).count(),
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if do := request.POST.get("do"):
            return self._act(do)
        return super().post(request, *args, **kwargs)

    def apply_form(self, form: MailForm) -> HttpResponse:
        hours, language = form.cleaned_data["remind_hours"], form.cleaned_data["language"]
        texts.change_settings(self.object, hours, form.texts(), self.username, language)
        messages.success(self.request, "The messages are saved.")
        return redirect(self.request.path)

    def _act(self, do: str) -> HttpResponse:
        if do not in ACTIONS:
            raise Http404
        act, result = ACTIONS[do]
        try:
            count = act(self.object, self.username)
        except Refused as refusal:
            messages.error(self.request, str(refusal))
        else:
            messages.success(self.request, f"{count_noun(count, 'message')} {result}.")
        return redirect(self.request.path)


class SendPage(Page):
    """The confirmation before invitations are sent."""

    permission_required = ["selection.change_run"]
    location = ("<int:pk>/mail/send/", "mail_send")
    heading = "Send invitations to {}?"
    below_object = True
    template_name = "mail/send.html"

    def crumbs(self) -> list[tuple[str, str]]:
        return [*super().crumbs(), ("E-mail", mail_url(self.object))]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run: Run = self.object
        facts = {"plan": invitations.plan_invitations(run), "refusal": _refusal(run)}
        facts |= {"languages": settings.LANGUAGES, "language": texts.suggest_language(run)}
        return super().get_context_data(run=run, back=mail_url(run), **facts)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        language = request.POST.get("language", "")
        try:
            texts.change_settings(self.object, None, {}, self.username, language)
            plan = invitations.send_invitations(self.object, self.username)
        except Refused as refusal:
            messages.error(request, str(refusal))
        else:
            messages.success(request, f"{count_noun(plan.messages, 'invitation')} will be sent.")
        return redirect(mail_url(self.object))


def _refusal(run: Run) -> str:
    try:
        invitations.refuse_invitations(run)
    except Refused as refusal:
        return str(refusal)
    return ""


def _labelled(states: dict[str, int]) -> dict[str, int]:
    return {Mail.State(state).label: count for state, count in states.items()}


def mail_url(run: Run) -> str:
    return reverse("admin:selection_run_mail", args=[run.pk])
