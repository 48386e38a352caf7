"""A worker's card in a run: answers, confidence interval, verdict, other runs."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from selection import reports
from selection.admin.page import CandidatePage, Page, object_url
from selection.charts import worker_charts
from selection.errors import Refused
from selection.models import Run, status_of
from selection.reports.worker_columns import SHAPES
from selection.worker import links

from . import table


class WorkerPage(CandidatePage):
    """The card. Responses and accepted answers need the permission to view answers."""

    permission_required = ["selection.view_run"]
    location = ("<int:pk>/worker/<int:candidate>/", "worker")
    below_object = True
    template_name = "selection/worker_card.html"

    @property
    def title(self) -> str:
        return f"Worker {self.candidate.worker} in {self.object}"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        run, card = self.candidate.run, reports.worker_card(self.candidate)
        answerable = run.status != Run.Status.ENDED and not run.recorded_only
        shares = answerable and self.may("selection.change_run")
        return super().get_context_data(
            run=run,
            candidate=self.candidate,
            line=card.line,
            presence=table.describe_presence(run, card.line.worker, card.line.presence),
            shape=SHAPES[card.line.verdict],
            verdict=table.plain_verdict(card.line.verdict),
            card=card,
            picture=worker_charts.draw_answers(card.points),
            interval=reports.interval_meaning(run),
            link=links.worker_url(self.candidate.pk, self.candidate.link_version) if shares else "",
            may_see=self.may("selection.view_answer"),
        )


class WorkerExplanationPage(WorkerPage):
    """Explanation of the worker's standing, on request only because it replays the run."""

    location = ("<int:pk>/worker/<int:candidate>/why/", "worker_why")
    template_name = "selection/worker_why.html"

    @property
    def title(self) -> str:
        return f"Why {self.candidate.worker} is {self._status()}"

    def _status(self) -> str:
        candidate = self.candidate
        if candidate.by_hand is None:
            return status_of(candidate)
        return f"{candidate.get_by_hand_display()} by hand"

    def crumbs(self) -> list[tuple[str, str]]:
        candidate = self.candidate
        card = reverse("admin:selection_run_worker", args=[candidate.run_id, candidate.pk])
        return [*super().crumbs(), (str(candidate.worker), card)]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().get(request, *args, **kwargs)
        except Refused as refusal:  # a run that has not begun
            messages.error(request, str(refusal))
            return redirect(object_url(self.candidate.run))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        facts = {
            "run": self.candidate.run,
            "explanation": reports.explain_candidate(self.candidate),
        }
        return Page.get_context_data(self, **facts)
