"""The page on which a watch is joined to a tool that takes its gold questions."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from selection import connectors
from selection.admin.page import object_url
from selection.connectors import background
from selection.models import Connection, OutsideTask, WatchConnection

from .use_page import CONNECT, UsePage

State = OutsideTask.State


def describe_link(link: WatchConnection) -> dict[str, Any]:
    tasks = link.gold_tasks.all()
    return {
        "link": link,
        "connector": connectors.connector_of(link.connection),
        "problems": [one for one in (link.connection.problem, link.problem) if one],
        "notes": link.memory.get("notes", []),
        "by_hand": connectors.list_by_hand(link),
        "tasks": [
            ("open there", tasks.filter(state=State.SENT).count()),
            ("answered", tasks.filter(state=State.ANSWERED).count()),
        ],
        "paused": link.members.filter(pause="paused").count(),
    }


def _takes_gold(connection: Connection) -> bool:
    return connectors.connector_of(connection).can("exchange_gold")


class GoldPlacePage(UsePage):
    """The connections of a watch; ?connection=ID has the form to use one."""

    permission_required = ["selection.change_watch", CONNECT]
    template_name = "selection/watch_where.html"
    title = "Where gold questions appear"
    job_kinds = (background.SOURCES, background.CONNECT_WATCH)
    target, connects, declares = "watch", background.CONNECT_WATCH, "watch_settings"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        chosen = self._chosen()
        if "form" not in kwargs and chosen is not None:
            kwargs["form"] = self._build_form(chosen)()
        links = connectors.list_links(self.object)
        return super().get_context_data(
            used=[describe_link(link) for link in links],
            others=[] if links or self.object.stopped else self._list_connections(),
            chosen=chosen,
            **kwargs,
        )

    def _tell_connected(self, connection: Connection) -> HttpResponse:
        messages.success(self.request, f"Gold questions come among the tasks in “{connection}”.")
        return redirect(object_url(self.object))

    def _list_connections(self) -> list[Connection]:
        return list(filter(_takes_gold, self._team_connections()))

    def _chosen(self) -> Connection | None:
        chosen = super()._chosen()
        return chosen if chosen and _takes_gold(chosen) else None

    # -- actions

    def _list(self) -> HttpResponse:
        return self._list_sources(self._require_chosen())

    def _disconnect(self) -> None:
        link = self._link()
        connectors.disconnect_watch(link, self.username)
        paused = " Paused members stay paused there." if describe_link(link)["paused"] else ""
        messages.success(
            self.request, f"Open gold tasks are being removed in “{link.connection}”.{paused}"
        )

    actions = UsePage.actions | {"sources": _list, "disconnect": _disconnect}
