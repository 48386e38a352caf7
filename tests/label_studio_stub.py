"""A Label Studio of the tests: the part of its REST API that the connector uses, and its faults.

Written after the replies of version 1.23; ``make interop`` plays the same with the real one.
"""

import json
import re
import threading
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

Object = dict[str, Any]
LEGACY = "0123456789abcdef0123456789abcdef01234567"
PERSONAL = "eyJhead.eyJbody.signature"
PAGE = 500


class LabelStudioStub:
    """Speaks Label Studio's API on a port of its own; ``with`` starts and stops it.

    faults  one is taken by each request: "lost" does the work and hangs up, "broken" is 500,
            "denied" is 401, "limited" is 429, "missing" is 404; None is none
    late    users that answer a task just before tasks are deleted, by task
    pauses  of members, with those that have ended; assigned: users by task
    legacy  False refuses legacy tokens
    """

    def __init__(self) -> None:
        self.users: list[Object] = [{"id": 1, "email": "admin@example.org", "first_name": "Ad"}]
        self.projects: dict[int, Object] = {}
        self.tasks: dict[int, Object] = {}
        self.hooks: list[Object] = []
        self.members: list[tuple[int, int]] = []
        self.faults: list[str | None] = []
        self.requests: list[str] = []
        self.late: dict[int, int] = {}
        self.pauses: list[Object] = []
        self.assigned: dict[int, list[int]] = {}
        self.legacy = True
        self.token = LEGACY
        self.access = "access-1"
        self.takes_hooks = True
        self.enterprise = False
        self.port = 0
        self._number = 0
        self._lock = threading.RLock()
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Listen; after ``stop`` again, on the same port and with the same content."""
        stub = self

        class Handler(_Handler):
            studio = stub

        ThreadingHTTPServer.allow_reuse_address = True
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def invite(self, *emails: str) -> None:
        for email in emails:
            self.users.append(
                {"id": self._next(), "email": email, "first_name": "", "last_name": ""}
            )

    # -- actions of people

    def add_project(self, config: str, parsed: Object, title: str = "Birds") -> int:
        fields = {"title": title, "label_config": config, "parsed_label_config": parsed}
        return int(self._add_project(fields)["id"])

    def add_task(self, project: int, data: Object) -> int:
        task = {"id": self._next(), "project": project, "data": data, "annotations": []}
        self.tasks[task["id"]] = task | {"updated_at": _now()}
        return int(task["id"])

    def annotate(
        self, task: int, value: Object | None, by: int = 1, gold: bool = False, name: str = "answer"
    ) -> Object:
        """Answer a task, or skip it; return the webhook's message."""
        result = [] if value is None else [{"from_name": name, "to_name": "prompt", "value": value}]
        annotation = {
            "id": self._next(),
            "completed_by": by,
            "result": result,
            "was_cancelled": value is None,
            "ground_truth": gold,
            "created_at": _now(),
            "updated_at": _now(),
            "task": task,
        }
        self.tasks[task]["annotations"].append(annotation)
        self.tasks[task]["updated_at"] = annotation["updated_at"]
        return self._message("ANNOTATION_CREATED", annotation)

    def edit(self, annotation: int, value: Object | None) -> Object:
        """Change an annotation; return the webhook's message."""
        rows = [row for task in self.tasks.values() for row in task["annotations"]]
        row = next(row for row in rows if row["id"] == annotation)
        row["was_cancelled"] = value is None
        row["result"] = [] if value is None else [{"from_name": "answer", "value": value}]
        row["updated_at"] = self.tasks[row["task"]]["updated_at"] = _now()
        return self._message("ANNOTATION_UPDATED", row)

    def _message(self, action: str, annotation: Object) -> Object:
        task = self.tasks[annotation["task"]]
        shown = {name: task[name] for name in ("id", "data", "project")}
        message = {"action": action, "annotation": annotation, "task": shown}
        return json.loads(json.dumps(message | {"project": self.projects[task["project"]]}))

    def delete_project(self, project: int) -> None:
        del self.projects[project]
        self.tasks = {pk: one for pk, one in self.tasks.items() if one["project"] != project}

    def numbers(self) -> list[int]:
        """Return the numbers of the assignments with a task here, in order."""
        with self._lock:
            found = [one["data"].get("crowdselect") for one in self.tasks.values()]
        return sorted(int(number) for number in found if number)

    def task_of(self, number: int) -> Object:
        rows = self.tasks.values()
        return next(one for one in rows if one["data"].get("crowdselect") == str(number))

    def _next(self) -> int:
        self._number += 1
        return self._number + 1

    def _add_project(self, fields: Object) -> Object:
        row = {"description": "", "parsed_label_config": {}} | fields | {"id": self._next()}
        self.projects[row["id"]] = row
        return row

    # -- its API

    def answer(self, method: str, path: str, query: Object, body: Any) -> tuple[int, Any]:
        with self._lock:
            for pattern, name in _ROUTES:
                match = re.fullmatch(pattern, f"{method} {path}")
                if match:
                    return getattr(self, name)(*map(int, match.groups()), query=query, body=body)
        return 404, None

    def _refresh(self, *, query: Object, body: Any) -> tuple[int, Any]:
        if body.get("refresh") != PERSONAL:
            return 401, {"detail": "Token is invalid"}
        return 200, {"access": self.access}

    def _whoami(self, *, query: Object, body: Any) -> tuple[int, Any]:
        return 200, self.users[0]

    def _list_users(self, *, query: Object, body: Any) -> tuple[int, Any]:
        return 200, self.users

    def _list_projects(self, *, query: Object, body: Any) -> tuple[int, Any]:
        title = query.get("title", "").lower()
        rows = [one for one in self.projects.values() if title in one["title"].lower()]
        return 200, {"results": [{"id": one["id"], "title": one["title"]} for one in rows]}

    def _create_project(self, *, query: Object, body: Any) -> tuple[int, Any]:
        if len(body["title"]) > 50:
            return 400, {"detail": "Validation error", "validation_errors": {"title": ["long"]}}
        return 201, self._add_project(body)

    def _show_project(self, project: int, *, query: Object, body: Any) -> tuple[int, Any]:
        if project not in self.projects:
            return 404, {"detail": "No Project matches the given query."}
        tasks = [one for one in self.tasks.values() if one["project"] == project]
        finished = sum(self._is_answered(one["id"]) for one in tasks)
        counts = {"task_number": len(tasks), "finished_task_number": finished}
        return 200, {"maximum_annotations": 1} | self.projects[project] | counts

    def _change_project(self, project: int, *, query: Object, body: Any) -> tuple[int, Any]:
        self.projects[project] |= body
        return 200, self.projects[project]

    def _import(self, project: int, *, query: Object, body: Any) -> tuple[int, Any]:
        if project not in self.projects:
            return 404, None
        return 201, {"task_ids": [self.add_task(project, one["data"]) for one in body]}

    def _create_task(self, *, query: Object, body: Any) -> tuple[int, Any]:
        if body["project"] not in self.projects:
            return 404, None
        return 201, self.tasks[self.add_task(body["project"], body["data"])]

    def _export(self, project: int, *, query: Object, body: Any) -> tuple[int, Any]:
        rows = [one for one in self.tasks.values() if one["project"] == project]
        return 200, [one for one in rows if one["annotations"]]

    def _list_tasks(self, *, query: Object, body: Any) -> tuple[int, Any]:
        project = int(query["project"])
        if project not in self.projects:
            return 404, {"detail": "No Project matches the given query."}
        rows = [one for one in self.tasks.values() if one["project"] == project]
        if "query" in query:
            (item,) = json.loads(query["query"])["filters"]["items"]
            assert (item["filter"], item["operator"]) == ("filter:tasks:updated_at", "greater")
            since = datetime.strptime(item["value"], "%Y-%m-%dT%H:%M:%S.%fZ")  # nothing else
            rows = [one for one in rows if _naive(one["updated_at"]) > since]
        start = (int(query["page"]) - 1) * PAGE
        return 200, {"total": len(rows), "tasks": rows[start : start + PAGE]}

    def _delete_tasks(self, *, query: Object, body: Any) -> tuple[int, Any]:
        if int(query["project"]) not in self.projects:
            return 404, None
        assert body["filters"]["items"][0]["filter"] == "filter:tasks:total_annotations"
        for task, user in self.late.items():
            self.annotate(task, {"choices": ["yes"]}, by=user)
        there = [pk for pk in body["selectedItems"]["included"] if pk in self.tasks]
        gone = [pk for pk in there if not self._is_answered(pk)]
        for pk in gone:
            del self.tasks[pk]
        return 200, {"processed_items": len(gone)}

    def _is_answered(self, task: int) -> bool:
        return any(not one["was_cancelled"] for one in self.tasks[task]["annotations"])

    def _list_hooks(self, *, query: Object, body: Any) -> tuple[int, Any]:
        return 200, [one for one in self.hooks if one["project"] == int(query["project"])]

    def _create_hook(self, *, query: Object, body: Any) -> tuple[int, Any]:
        if not self.takes_hooks:
            return 400, {"detail": "The provided URL was resolved to a local address"}
        self.hooks.append(body)
        return 201, body

    def _add_member(self, project: int, *, query: Object, body: Any) -> tuple[int, Any]:
        if not self.enterprise:
            return 404, None
        self.members.append((project, body["user"]))
        return 201, {}

    def _show_task(self, task: int, *, query: Object, body: Any) -> tuple[int, Any]:
        return (200, self.tasks[task]) if task in self.tasks else (404, None)

    def _assign(self, project: int, task: int, *, query: Object, body: Any) -> tuple[int, Any]:
        if not self.enterprise:
            return 404, None
        self.assigned[task] = body["users"]
        return 201, {}

    def _list_pauses(self, project: int, user: int, *, query: Object, body: Any) -> tuple[int, Any]:
        if not self.enterprise:
            return 404, None
        return 200, self.paused(project, user)

    def _pause(self, project: int, user: int, *, query: Object, body: Any) -> tuple[int, Any]:
        if not self.enterprise:
            return 404, None
        row = {"id": self._next(), "project": project, "user": user, "deleted_at": None, **body}
        self.pauses.append(row)
        return 201, row

    def _end_pause(
        self, project: int, user: int, pause: int, *, query: Object, body: Any
    ) -> tuple[int, Any]:
        row = next(one for one in self.pauses if one["id"] == pause)
        row["deleted_at"] = _now()
        return 204, None

    def paused(self, project: int, user: int) -> list[Object]:
        rows = [one for one in self.pauses if (one["project"], one["user"]) == (project, user)]
        return [one for one in rows if not one["deleted_at"]]


_ROUTES = [
    (r"POST /api/token/refresh/", "_refresh"),
    (r"GET /api/current-user/whoami", "_whoami"),
    (r"GET /api/users/", "_list_users"),
    (r"GET /api/projects/", "_list_projects"),
    (r"POST /api/projects/", "_create_project"),
    (r"GET /api/projects/(\d+)/", "_show_project"),
    (r"PATCH /api/projects/(\d+)/", "_change_project"),
    (r"POST /api/projects/(\d+)/import", "_import"),
    (r"GET /api/projects/(\d+)/export", "_export"),
    (r"POST /api/projects/(\d+)/members/", "_add_member"),
    (r"GET /api/tasks", "_list_tasks"),
    (r"POST /api/tasks/", "_create_task"),
    (r"GET /api/tasks/(\d+)/", "_show_task"),
    (r"POST /api/projects/(\d+)/tasks/(\d+)/assignees", "_assign"),
    (r"GET /api/projects/(\d+)/members/(\d+)/pauses/", "_list_pauses"),
    (r"POST /api/projects/(\d+)/members/(\d+)/pauses/", "_pause"),
    (r"DELETE /api/projects/(\d+)/members/(\d+)/pauses/(\d+)/", "_end_pause"),
    (r"POST /api/dm/actions", "_delete_tasks"),
    (r"GET /api/webhooks/", "_list_hooks"),
    (r"POST /api/webhooks/", "_create_hook"),
]


class _Handler(BaseHTTPRequestHandler):
    studio: LabelStudioStub
    timeout = 5

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.studio.requests.append(f"{self.command} {parts.path}")
        fault = self.studio.faults.pop(0) if self.studio.faults else None
        if fault in _FAULTS:
            return self._send(_FAULTS[fault], {"detail": fault})
        if refusal := self._refusal(parts.path):
            return self._send(401, {"detail": refusal})
        query = dict(parse_qsl(parts.query))
        status, reply = self.studio.answer(self.command, parts.path, query, body)
        if fault == "lost":
            self.close_connection = True
            return None
        return self._send(status, reply)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PATCH(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _refusal(self, path: str) -> str:
        if path == "/api/token/refresh/":
            return ""
        given = self.headers.get("Authorization", "")
        if given == f"Token {self.studio.token}":
            return "" if self.studio.legacy else "legacy token authentication has been disabled"
        return "" if given == f"Bearer {self.studio.access}" else "Invalid token."

    def _send(self, status: int, reply: Any) -> None:
        page = b"" if status == 204 else b"<!doctype html>404"
        content = page if reply is None else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


_FAULTS = {"broken": 500, "denied": 401, "limited": 429, "missing": 404}


def _now() -> str:
    time.sleep(0.001)  # so that each edit is later than the last
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def _naive(moment: str) -> datetime:
    return datetime.fromisoformat(moment).replace(tzinfo=None)
