"""Pages that change a run that has started: settings, roster, and single workers.

Every page shows the effect on the guarantee before the change is made.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from selection import connectors, reports
from selection.admin import styled
from selection.admin.page import CandidatePage, FormPage, Page, object_url
from selection.admin.setting_fields import LABELS, build_field
from selection.errors import Refused
from selection.facts import Facts
from selection.models import Candidate, Run
from selection.runs import changes, manual_verdicts, void_budget
from selection.runs.roster import join_platforms, membership, previews, roster_opening
from selection.runs.settings import drafts
from selection.worker import link_rotation, links

from .table import describe_presence

EVENTS_SHOWN = 30


def _offer(do: str, words: str, preview: Callable[..., str], *arguments: Any) -> Facts:
    """Describe a button: its label, and the effect of the action or the reason of its refusal."""
    try:
        return Facts(do=do, words=words, says=preview(*arguments), refused="")
    except Refused as refusal:
        return Facts(do=do, words=words, says="", refused=str(refusal))


def change_facts(run: Run, may_change: bool) -> dict[str, Any]:
    """Build the context of changes. Join links need permission to change the run."""
    events = list(run.events.all()[: EVENTS_SHOWN + 1])
    return {
        "events": events[:EVENTS_SHOWN],
        "more_events": len(events) > EVENTS_SHOWN,
        "join_link": links.entry_address(run) if run.enrolling and may_change else "",
        "worker_parameter": join_platforms.worker_parameters(run)[0],
        "mturk_link": links.mturk_address(run) if run.enrolling and may_change else "",
        "not_closed": roster_opening.too_few(run) if run.enrolling else "",
        "may_raise": run.may_be_raised,
        "wasted": void_budget.void_budget_of(run),
    }


class ReasonForm(forms.Form):
    why = styled.CharField(
        label="Reason", required=False, max_length=300, help_text="Kept in the run's history."
    )


def change_form(run: Run, data: Any = None) -> "_SettingsForm":
    form_class: Any = forms.modelform_factory(
        Run,
        form=_SettingsForm,
        fields=[setting.name for setting in changes.changeable_settings(run)],
        labels=LABELS,
        formfield_callback=build_field,
    )
    settings: _SettingsForm = form_class(data, instance=run)
    return settings


class _SettingsForm(ReasonForm, forms.ModelForm):
    """A form that only parses and never saves. Ranges are checked by ``runs.changes``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields([*(name for name in self.fields if name != "why"), "why"])
        for name, field in self.fields.items():
            if name != "why":
                field.validators = []

    def _post_clean(self) -> None:
        """Leave the instance as stored, to compare with."""

    def changes(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "why"}


class ChangeView(Page):
    """Common part of the pages that change a run."""

    permission_required = ["selection.change_run"]
    below_object = True

    def redirect_done(self, *sentences: str) -> HttpResponseRedirect:
        messages.success(self.request, "Done. " + " ".join(sentences))
        return redirect(object_url(self.object))

    def redirect_refused(self, refusal: Refused) -> HttpResponseRedirect:
        messages.error(self.request, str(refusal))
        return redirect(self.request.path)


class ChangePage(ChangeView):
    """Settings in two steps, preview and confirmation; and the roster."""

    location = ("<int:pk>/do/change/", "do_change")
    heading = "Change {}"
    template_name = "selection/run_change.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if self.object.status == Run.Status.DRAFT:
            return redirect("admin:selection_run_change", self.object.pk)
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self._render_page(change_form(self.object))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "do" in request.POST:
            return self._change_roster(request.POST["do"], request.POST.get("why", ""))
        form = change_form(self.object, request.POST)
        if not form.is_valid():
            return self._render_page(form)
        try:
            if "confirm" in request.POST:
                reason = form.cleaned_data["why"]
                effects = changes.apply_changes(self.object, form.changes(), self.username, reason)
                return self.redirect_done(*effects.values()) if effects else self._render_page(form)
            effects = changes.preview_changes(self.object, form.changes())
        except Refused as refusal:
            form.add_error(None, str(refusal))
            return self._render_page(form)
        return self._render_page(form, said=list(effects.values()), nothing=not effects)

    def _render_page(self, form: _SettingsForm, **more: Any) -> HttpResponse:
        context = self.get_context_data(form=form, offers=self._offers(), **more)
        return self.render_to_response(context)

    def _offers(self) -> list[Facts]:
        run = self.object
        if run.status == Run.Status.ENDED:
            return []
        join = _offer("join", "Add new workers of the pool", previews.join_others, run)
        if run.enrolling:
            gate = _offer("close", "Close the roster", previews.close_roster, run)
        else:
            gate = _offer("open", "Open the roster", previews.open_roster, run)
        keys = membership.answered_leavers(run)
        back = _offer("take-back", "Take back the workers who left", previews.take_back, run, keys)
        return [
            *([back] if keys else []),
            gate,
            join,
            _offer("links", "Replace all links", link_rotation.preview_rotation, run),
        ]

    def _change_roster(self, action: str, reason: str) -> HttpResponse:
        verbs: dict[str, Callable[..., object]] = {
            "open": roster_opening.open_roster,
            "close": roster_opening.close_roster,
            "join": roster_opening.join_others,
            "links": link_rotation.rotate_all_links,
            "make-up": void_budget.make_up,
            "take-back": membership.take_back_answered,
        }
        if action not in verbs:
            raise Http404
        try:
            effects = verbs[action](self.object, self.username, reason)
        except Refused as refusal:
            return self.redirect_refused(refusal)
        return self.redirect_done(*(effects.values() if isinstance(effects, dict) else ()))


VERDICTS = {"accept": 1, "reject": -1, "no-verdict": None}


class WorkerChange(ChangeView, CandidatePage):
    """A worker in a run: withdrawal, return, verdict by hand, new link."""

    location = ("<int:pk>/worker/<int:candidate>/change/", "worker_change")
    template_name = "selection/worker_change.html"

    @property
    def title(self) -> str:
        return f"{self.candidate.worker} in {self.object}"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        candidate = self.candidate
        return super().get_context_data(
            **kwargs,
            candidate=candidate,
            presence=describe_presence(
                self.object, candidate.worker.key, reports.presence_of(candidate)
            ),
            offers=self._offers(candidate),
        )

    def _offers(self, candidate: Candidate) -> list[Facts]:
        run, keys = self.object, [candidate.worker.key]
        offers = []
        if run.status != Run.Status.ENDED:
            offers.append(
                _offer("take-back", "Take back", previews.take_back, run, keys)
                if candidate.gone
                else _offer("withdraw", "Withdraw", previews.preview_withdrawal, run, keys)
            )
            worker = candidate.worker
            offers.append(
                _offer("link", "Replace the link", link_rotation.preview_rotation, run, worker)
            )
        labels = {"accept": "Accept by hand", "reject": "Reject by hand"}
        offers += [
            _offer(
                action, labels[action], manual_verdicts.preview_verdict, candidate, VERDICTS[action]
            )
            for action in labels
            if candidate.by_hand != VERDICTS[action]
        ]
        if candidate.by_hand is not None:
            offers.append(
                _offer(
                    "no-verdict",
                    "Undo the verdict by hand",
                    manual_verdicts.preview_verdict,
                    candidate,
                    None,
                )
            )
        return offers

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        action, reason, key = (
            request.POST.get("do"),
            request.POST.get("why", ""),
            self.candidate.worker.key,
        )
        try:
            if action in VERDICTS:
                manual_verdicts.override_verdict(
                    self.candidate, VERDICTS[action], self.username, reason
                )
                connectors.request_exchanges(self.object.pk)
            elif action == "withdraw":
                membership.withdraw_workers(self.object, [key], self.username, reason)
            elif action == "take-back":
                membership.take_back(self.object, [key], self.username, reason)
            elif action == "link":
                link_rotation.rotate_worker_link(self.candidate, self.username, reason)
                return self.redirect_to_worker()
            else:
                raise Http404
        except Refused as refusal:
            return self.redirect_refused(refusal)
        return self.redirect_done()

    def redirect_to_worker(self) -> HttpResponseRedirect:
        messages.success(self.request, "The new link is on this page; the old one no longer works.")
        return redirect("admin:selection_run_worker", self.object.pk, self.candidate.pk)


class CopyForm(ReasonForm):
    name = styled.CharField(label="Name", max_length=200)
    same_seed = styled.BooleanField(
        label="Same seed",
        required=False,
        help_text="Workers then get the same questions in the same order.",
    )
    field_order: Sequence[str] = ["name", "same_seed", "why"]


class CopyPage(FormPage):
    permission_required = ["selection.view_run", "selection.add_run"]
    location = ("<int:pk>/copy/", "copy")
    heading = "Copy {}"
    below_object = True
    template_name = "selection/run_copy.html"

    def build_form(self, *data: Any) -> CopyForm:
        form = CopyForm(*data)
        form.initial["name"] = drafts.name_copy(self.object)
        return form

    def apply_form(self, form: CopyForm) -> HttpResponse:
        name, same_seed, why = (form.cleaned_data[field] for field in CopyForm.field_order)
        copied = drafts.copy_run(self.object, name, same_seed, self.username, why)
        messages.success(self.request, "The copy is a draft. Edit the copy before its start.")
        return redirect(object_url(copied))
