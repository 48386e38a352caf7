"""Requests to Label Studio's REST API, of version 1.20 and later."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from selection.connectors import http
from selection.connectors.faults import Denied, Missing, Outage, Rejected
from selection.connectors.secret_store import require_token
from selection.models import Connection

Object = dict[str, Any]

REJECTED_KEY = (
    "Label Studio does not accept the token: copy one from its page Account & Settings and enter "
    "it at the connection."
)
NO_LEGACY = (
    "Label Studio does not accept legacy tokens: enter a personal access token, or allow legacy "
    "tokens under Organization, Access Token Settings."
)
# So many tasks are created one by one. With SQLite, Label Studio lets an import that meets an
# answer sleep for 3 seconds, then for 6, and so on.
FEW = 3
PAGE = 500  # tasks of a page
MOST_PAGES = 400
LONG_SECONDS = 60.0  # for files, imports, and pages of tasks
# Deleting a task deletes its annotations: somebody may have answered it a moment ago.
UNANSWERED = {
    "conjunction": "and",
    "items": [
        {
            "filter": "filter:tasks:total_annotations",
            "operator": "equal",
            "type": "Number",
            "value": 0,
        }
    ],
}
# An access token is valid for five minutes. By the digest of its personal token.
ACCESS_SECONDS = 200.0
_access: dict[str, tuple[str, float]] = {}


class NoMembers(Rejected):
    """The edition has no members of projects: everybody sees every project."""


class NoPauses(Rejected):
    """The edition, or the role of the token's account, cannot pause members of a project."""


@dataclass(frozen=True)
class Client:
    """An account in Label Studio. token: a legacy token, or a personal access token."""

    address: str
    token: str

    @classmethod
    def of(cls, connection: Connection) -> "Client":
        return cls(connection.address, require_token(connection))

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        seconds: float = 10.0,
    ) -> Any:
        """Fetch the reply's JSON. Raises a Fault."""
        try:
            return self._call(method, path, body, query, seconds)
        except Denied as fault:
            if fault.code != 401:
                raise
            # The access token may have expired or been revoked meanwhile.
            if _access.pop(self._digest, None) is None:
                raise self._explain(fault) from None
        try:
            return self._call(method, path, body, query, seconds)
        except Denied as fault:
            raise self._explain(fault) from None

    def _call(
        self, method: str, path: str, body: Any, query: Mapping[str, Any] | None, seconds: float
    ) -> Any:
        headers = {"Authorization": self._authorization()}
        return http.call_json(method, f"{self.address}{path}", headers, body, query, seconds)

    def _authorization(self) -> str:
        if not self._is_personal:
            return f"Token {self.token}"
        token, until = _access.get(self._digest, ("", 0.0))
        if time.monotonic() >= until:
            body = {"refresh": self.token}
            reply = http.call_json("POST", f"{self.address}/api/token/refresh/", {}, body)
            token = str(as_object(reply).get("access", ""))
            _access[self._digest] = token, time.monotonic() + ACCESS_SECONDS
        return f"Bearer {token}"

    @property
    def _is_personal(self) -> bool:
        """Recognise a JWT: three parts."""
        return self.token.count(".") == 2

    @property
    def _digest(self) -> str:
        return sha256(f"{self.address} {self.token}".encode()).hexdigest()

    @staticmethod
    def _explain(fault: Denied) -> Denied:
        if fault.code != 401:
            return fault
        return Denied(NO_LEGACY if "legacy" in str(fault) else REJECTED_KEY, fault.code)

    # -- accounts

    def whoami(self) -> Object:
        return as_object(self.call("GET", "/api/current-user/whoami"))

    def list_users(self) -> list[Object]:
        return as_list(self.call("GET", "/api/users/"))

    # -- projects

    def list_projects(self, title: str = "") -> list[Object]:
        query = {"include": "id,title", "page_size": 1000} | ({"title": title} if title else {})
        return as_list(as_object(self.call("GET", "/api/projects/", query=query)).get("results"))

    def project(self, project: str) -> Object:
        try:
            return as_object(self.call("GET", f"/api/projects/{project}/"))
        except Missing:
            raise Missing(f"The account sees no project {project} in Label Studio.", 404) from None

    def create_project(self, fields: Object) -> str:
        return str(as_object(self.call("POST", "/api/projects/", fields))["id"])

    def change_project(self, project: str, fields: Object) -> None:
        self.call("PATCH", f"/api/projects/{project}/", fields)

    def add_member(self, project: str, user: int) -> None:
        """Let this person work in the project. Raises NoMembers for the community edition."""
        try:
            self.call("POST", f"/api/projects/{project}/members/", {"user": user})
        except Missing:
            raise NoMembers(
                "This edition of Label Studio has no members of projects: choose another way."
            ) from None

    def export_project(self, project: str) -> list[Object]:
        """Fetch the annotated tasks, with their annotations."""
        query = {"exportType": "JSON"}
        path = f"/api/projects/{project}/export"
        return as_list(self.call("GET", path, query=query, seconds=LONG_SECONDS))

    # -- tasks

    def create_tasks(self, project: str, tasks: Sequence[Object]) -> list[int]:
        """Create the tasks and return their ids, in the same order."""
        if len(tasks) > FEW:
            return self._import_tasks(project, tasks)
        bodies = [{"project": int(project), **task} for task in tasks]
        return [int(as_object(self.call("POST", "/api/tasks/", one))["id"]) for one in bodies]

    def _import_tasks(self, project: str, tasks: Sequence[Object]) -> list[int]:
        path, query = f"/api/projects/{project}/import", {"return_task_ids": "true"}
        reply = as_object(self.call("POST", path, list(tasks), query, seconds=LONG_SECONDS))
        ids = reply.get("task_ids")
        if not isinstance(ids, list) or len(ids) != len(tasks):
            raise Outage("Label Studio did not tell the ids of the new tasks.")
        return ids

    def list_tasks(self, project: str, since: datetime | None = None) -> Iterator[Object]:
        """Yield all tasks of the project, with their annotations; or those changed since then."""
        page, total = 1, 1
        chosen = {} if since is None else {"query": json.dumps({"filters": _changed_since(since)})}
        while (page - 1) * PAGE < total:
            query = {"project": project, "fields": "all", "page": page, "page_size": PAGE} | chosen
            reply = as_object(self.call("GET", "/api/tasks", query=query, seconds=LONG_SECONDS))
            rows = as_list(reply.get("tasks"))
            yield from rows
            total = int(reply.get("total", 0)) if rows else 0
            page += 1
            if page > MOST_PAGES and (page - 1) * PAGE < total:
                raise Rejected(
                    f"The project has more than {MOST_PAGES * PAGE:,} tasks: use a smaller one."
                )

    def task(self, task: str) -> Object:
        return as_object(self.call("GET", f"/api/tasks/{task}/"))

    def assign_task(self, project: str, task: str, user: str) -> None:
        """Let this member alone annotate the task (Enterprise, manual distribution)."""
        path = f"/api/projects/{project}/tasks/{task}/assignees"
        self.call("POST", path, {"type": "AN", "users": [int(user)]})

    def delete_unanswered(self, project: str, ids: Sequence[int]) -> int:
        """Delete those of these tasks that nobody answered; return their number."""
        body = {"selectedItems": {"all": False, "included": list(ids)}, "filters": UNANSWERED}
        query = {"id": "delete_tasks", "project": project}
        reply = self.call("POST", "/api/dm/actions", body, query, seconds=30.0)
        return int(as_object(reply).get("processed_items", 0))

    # -- pauses of members (Enterprise)

    def list_pauses(self, project: str, user: str) -> list[Object]:
        """List the pauses of this member that have not ended. Raises NoPauses."""
        return as_list(self._call_pauses("GET", project, user))

    def pause_member(self, project: str, user: str, why: str) -> None:
        """Pause this member, who reads the reason. Raises NoPauses."""
        self._call_pauses("POST", project, user, "", {"reason": "MANUAL", "verbose_reason": why})

    def end_pause(self, project: str, user: str, pause: int) -> None:
        with suppress(NoPauses):  # it is gone
            self._call_pauses("DELETE", project, user, f"{pause}/")

    def _call_pauses(
        self, method: str, project: str, user: str, end: str = "", body: Any = None
    ) -> Any:
        path = f"/api/projects/{project}/members/{user}/pauses/{end}"
        try:
            return self.call(method, path, body)
        except (Missing, Denied) as fault:
            if fault.code == 401:
                raise
            raise NoPauses(str(fault), fault.code) from None

    # -- webhooks

    def list_webhooks(self, project: str) -> list[Object]:
        return as_list(self.call("GET", "/api/webhooks/", query={"project": project}))

    def create_webhook(self, project: str, fields: Object) -> None:
        self.call("POST", "/api/webhooks/", {"project": int(project), **fields})


def _changed_since(moment: datetime) -> Object:
    value = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")  # its only format
    item = {"filter": "filter:tasks:updated_at", "operator": "greater", "type": "Datetime"}
    return {"conjunction": "and", "items": [{**item, "value": value}]}


def as_object(reply: Any) -> Object:
    """Raise Outage unless the reply is an object."""
    if not isinstance(reply, dict):
        raise Outage("The reply is not Label Studio's: it is no object. Check the address.")
    return reply


def as_list(reply: Any) -> list[Object]:
    """Keep the objects of a list. Raises Outage for anything else."""
    if not isinstance(reply, list):
        raise Outage("The reply is not Label Studio's: it is no list. Check the address.")
    return [one for one in reply if isinstance(one, dict)]
