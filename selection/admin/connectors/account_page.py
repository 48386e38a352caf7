"""The page of a connection: its state, what can be read from it, and its calls."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.html import format_html

from selection import connectors
from selection.admin.page import ActionPage, object_url
from selection.admin.safe_lookups import parse_id
from selection.connectors.connector import Source
from selection.errors import Refused
from selection.imports.keyed_answers import File
from selection.models import Connection, Pool, QuestionSet
from selection.replays import replay_requests
from selection.texts import count_noun

PER_PAGE = 50
# Settings of a replay that nobody chose; its page offers others. Of few people fewer are selected.
MOST_SELECTED = 5
WANTED = {"epsilon": 0.1, "delta": 0.05}


class AccountPage(ActionPage):
    """State, sources and calls. Sources are listed on request, since that asks the tool."""

    permission_required = ["selection.change_connection"]
    location = ("<int:pk>/calls/", "calls")
    below_object = True
    template_name = "selection/connection.html"
    title = "Projects and calls"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        connection: Connection = self.object
        connector = connectors.connector_of(connection)
        page = Paginator(connection.calls.select_related("link__run"), PER_PAGE)
        asked = "sources" in self.request.GET
        return super().get_context_data(
            connector=connector,
            page=page.get_page(self.request.GET.get("page")),
            sources=self._sources(connection) if asked else None,
            can={name: connector.can(name) for name in ("read_gold", "read_workers", "read_past")},
            links=connection.runs.select_related("run"),
            **kwargs,
        )

    def _sources(self, connection: Connection) -> list[Source]:
        try:
            return connectors.list_sources(connection)
        except Refused as refusal:
            messages.error(self.request, str(refusal))
            return []

    def _check(self) -> None:
        messages.success(self.request, f"It works: {connectors.check_account(self.object)}")
        connectors.pause_connection(self.object, self.object.paused)

    def _pause(self) -> None:
        connectors.pause_connection(self.object, True)
        messages.success(self.request, "Paused: nothing is sent or fetched; calls wait.")

    def _resume(self) -> None:
        connectors.pause_connection(self.object, False)
        messages.success(self.request, "The connection continues.")

    def _read_gold(self) -> None:
        if not self.may("selection.add_questionset"):
            raise Http404
        name, source = self.request.POST.get("name", ""), self.request.POST.get("source", "")
        question_set = connectors.create_question_set(self.object, name, source)
        count = question_set.questions.count()
        self._tell_import(count_noun(count, "gold question"), question_set)

    def _read_workers(self) -> None:
        if not self.may("selection.add_pool"):
            raise Http404
        pool = connectors.create_pool(self.object)
        self._tell_import(count_noun(pool.workers.count(), "worker"), pool)

    def _tell_import(self, what: str, target: QuestionSet | Pool) -> None:
        link = format_html('<a class="cs-link" href="{}">{}</a>', object_url(target), target)
        messages.success(self.request, format_html("{} were read into {}.", what, link))

    def _try_past(self) -> HttpResponse:
        if not self.may("selection.add_run"):
            raise Http404
        found = connectors.fetch_past(self.object, self.request.POST.get("source", ""))
        source = replay_requests.Source(File(found.name, found.content))
        wanted: dict[str, Any] = WANTED | {"k": max(1, min(MOST_SELECTED, found.people // 2))}
        replay = replay_requests.request_replay(
            source, wanted, self.object.team_id, self.username, may_ask=True
        )
        return redirect("admin:selection_run_past_result", replay.pk)

    def _repeat(self) -> None:
        rows = self.object.calls.select_related("connection", "link")
        pk = parse_id(self.request.POST.get("call", "")) or 0
        connectors.repeat_call(get_object_or_404(rows, pk=pk))
        messages.success(self.request, "The call is made again.")

    actions = {
        "check": _check,
        "pause": _pause,
        "resume": _resume,
        "gold": _read_gold,
        "workers": _read_workers,
        "past": _try_past,
        "repeat": _repeat,
    }
