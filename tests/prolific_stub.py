"""Prolific's API as a small server, built from its reference (docs.prolific.com/api-reference).

Paths, fields, states and refusals are those of the reference and its examples. As there, paying
bonuses is not idempotent: a second call pays again.
"""

import base64
import hashlib
import hmac
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

TOKEN = "prolific-token-1"
WORKSPACE = "644aaabfaf6bbc363b9d47c6"
HOOK_SECRET = "confirm-this-hook"  # the header X-Hook-Secret
PAGE_SIZE = 3  # small, so that tests turn pages
# Required fields of a draft study, in the reference and in every example.
STUDY_FIELDS = {
    "name",
    "description",
    "external_study_url",
    "prolific_id_option",
    "completion_codes",
    "total_available_places",
    "estimated_completion_time",
    "reward",
}
CODE_TYPES = {"COMPLETED", "OTHER"}
ACTIONS = {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"}
_ID = re.compile(r"[0-9a-f]{24}")


class RefusedCall(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class ProlificStub:
    """The state of the other side.

    faults  by method, for the next calls, one after another: a status without effect,
            "lost" (the effect, then no reply) or "500 after" (the effect, then a 500)
    """

    def __init__(self) -> None:
        self.studies: dict[str, dict[str, Any]] = {}
        self.groups: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.bulks: dict[str, dict[str, Any]] = {}
        self.secrets: list[str] = []
        self.hooks: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, str, Any]] = []
        self.faults: dict[str, list[int | str | None]] = {"GET": [], "POST": [], "DELETE": []}
        self.numbers = itertools.count(1)
        self.url = ""

    def new_id(self) -> str:
        return f"{next(self.numbers):024x}"

    def submit(self, worker: str, status: str, code: str = "") -> str:
        """Let a participant's submission be in this state."""
        study = next(iter(self.studies))
        rows = [n for n, one in self.submissions.items() if one["participant_id"] == worker]
        number = rows[-1] if rows else self.new_id()
        self.submissions[number] = {
            "id": number,
            "study_id": study,
            "participant_id": worker,
            "started_at": "2026-01-01T10:00:00Z",
            "status": status,
            "study_code": code,
            "bonus_payments": self.submissions.get(number, {}).get("bonus_payments", []),
        }
        return number

    def writes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path, _ in self.calls if method != "GET"]

    # -- the endpoints

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        for (verb, pattern), endpoint in ENDPOINTS.items():
            found = re.fullmatch(pattern, path)
            if verb == method and found:
                return endpoint(self, *found.groups(), query=query, body=body)
        raise RefusedCall(404, f"Not found: {path}")

    def me(self, *, query: Any, body: Any) -> Any:
        return {"id": "60ffe5c8371090c7041d43f8", "email": "ann@example.org"}

    def workspaces(self, *, query: Any, body: Any) -> Any:
        return {"results": [{"id": WORKSPACE, "title": "Lab"}]}

    def list_studies(self, *, query: dict[str, str], body: Any) -> Any:
        keys = ("id", "name", "internal_name", "status")
        return page([{key: one[key] for key in keys} for one in self.studies.values()], query)

    def create_study(self, *, query: Any, body: Any) -> Any:
        if missing := STUDY_FIELDS - body.keys():
            raise RefusedCall(400, f"{min(missing)}: This field is required.")
        codes = [one["code"] for one in body["completion_codes"]]
        if len(set(codes)) < len(codes):
            raise RefusedCall(400, "Each code must be unique within a study.")
        for one in body["completion_codes"]:
            if one["code_type"] not in CODE_TYPES or not one["actions"]:
                raise RefusedCall(400, "The code type is not known.")
            assert {action["action"] for action in one["actions"]} <= ACTIONS
        for one in body["filters"]:
            if set(one["selected_values"]) - self.groups.keys():
                raise RefusedCall(400, "Participant group not found.")
        number = self.new_id()
        self.studies[number] = body | {"id": number, "status": "UNPUBLISHED"}
        return self.studies[number]

    def list_groups(self, *, query: dict[str, str], body: Any) -> Any:
        if query.get("workspace_id") != WORKSPACE:
            raise RefusedCall(400, "workspace_id is required.")
        rows = [{"id": one["id"], "name": one["name"]} for one in self.groups.values()]
        return page(rows, query)

    def create_group(self, *, query: Any, body: Any) -> Any:
        if body.get("workspace_id") != WORKSPACE or not body.get("name"):
            raise RefusedCall(400, "workspace_id and name are required.")
        number = self.new_id()
        self.groups[number] = {"id": number, "name": body["name"], "members": []}
        return {"id": number, "name": body["name"], "participant_count": 0}

    def members(self, group: str, *, query: dict[str, str], body: Any) -> Any:
        rows = [
            {"participant_id": one, "datetime_created": "2026-01-01T10:00:00Z"}
            for one in self.groups[group]["members"]
        ]
        return page(rows, query)

    def add_members(self, group: str, *, query: Any, body: Any) -> Any:
        if any(not _ID.fullmatch(one) for one in body["participant_ids"]):
            raise RefusedCall(400, "A participant id is not valid.")
        members = self.groups[group]["members"]
        members += [one for one in body["participant_ids"] if one not in members]
        return {"results": [{"participant_id": one} for one in members]}

    def remove_members(self, group: str, *, query: Any, body: Any) -> Any:
        gone = set(body["participant_ids"])
        members = [one for one in self.groups[group]["members"] if one not in gone]
        self.groups[group]["members"] = members
        return {"results": [{"participant_id": one} for one in members]}

    def list_submissions(self, study: str, *, query: dict[str, str], body: Any) -> Any:
        rows = [one for one in self.submissions.values() if one["study_id"] == study]
        return page(rows, query)

    def show_submission(self, number: str, *, query: Any, body: Any) -> Any:
        if number not in self.submissions:
            raise RefusedCall(404, f"Not found: {number}")
        one = self.submissions[number]
        return {
            "id": number,
            "participant": one["participant_id"],
            "status": one["status"],
            "study_id": one["study_id"],
            "entered_code": one["study_code"],
            "bonus_payments": one["bonus_payments"],
        }

    def transition(self, number: str, *, query: Any, body: Any) -> Any:
        if body["action"] != "APPROVE" or self.submissions[number]["status"] != "AWAITING REVIEW":
            raise RefusedCall(400, "The submission cannot make this transition.")
        self.submissions[number]["status"] = "APPROVED"
        return self.show_submission(number, query=query, body=None)

    def set_up_bonuses(self, *, query: Any, body: Any) -> Any:
        lines = [line.split(",") for line in body["csv_bonuses"].splitlines()]
        known = {one["participant_id"] for one in self.submissions.values()}
        if strangers := [worker for worker, _ in lines if worker not in known]:
            raise RefusedCall(400, f"Not in the study: {strangers[0]}")
        number = self.new_id()
        self.bulks[number] = {"study": body["study_id"], "lines": lines, "paid": 0}
        amount = sum(round(float(amount) * 100) for _, amount in lines)
        return {"id": number, "amount": amount, "fees": 0, "vat": 0, "total_amount": amount}

    def pay_bonuses(self, number: str, *, query: Any, body: Any) -> Any:
        self.bulks[number]["paid"] += 1
        for worker, amount in self.bulks[number]["lines"]:
            for one in self.submissions.values():
                if one["participant_id"] == worker:
                    one["bonus_payments"].append(float(round(float(amount) * 100)))

    def list_secrets(self, *, query: dict[str, str], body: Any) -> Any:
        return {
            "results": [
                {"id": "1", "value": one, "workspace_id": WORKSPACE} for one in self.secrets
            ]
        }

    def create_secret(self, *, query: Any, body: Any) -> Any:
        self.secrets = [f"secret of {body['workspace_id']}, {next(self.numbers)}"]
        return {"id": "1", "value": self.secrets[0], "workspace_id": WORKSPACE}

    def list_hooks(self, *, query: dict[str, str], body: Any) -> Any:
        wanted = query["is_enabled"] == "true"
        return page([one for one in self.hooks.values() if one["is_enabled"] == wanted], query)

    def create_hook(self, *, query: Any, body: Any) -> Any:
        if not body["target_url"].startswith("https://"):
            raise RefusedCall(400, "target_url must use https.")
        number = self.new_id()
        self.hooks[number] = body | {"id": number, "is_enabled": False}
        return self.hooks[number]

    def confirm_hook(self, number: str, *, query: Any, body: Any) -> Any:
        if body["secret"] != HOOK_SECRET:
            raise RefusedCall(400, "The secret is wrong.")
        self.hooks[number]["is_enabled"] = True
        return self.hooks[number]

    def paid_to(self, worker: str) -> list[float]:
        rows = [one for one in self.submissions.values() if one["participant_id"] == worker]
        return rows[-1]["bonus_payments"]


def page(rows: list[Any], query: dict[str, str]) -> dict[str, Any]:
    limit, offset = min(int(query.get("limit", 100)), PAGE_SIZE), int(query.get("offset", 0))
    more = offset + limit < len(rows)
    following = {"href": "https://api.prolific.com/next" if more else None}
    return {
        "results": rows[offset : offset + limit],
        "_links": {"next": following},
        "meta": {"count": len(rows)},
    }


Endpoint = Callable[..., Any]
ID = "([0-9a-f]{24})"
ENDPOINTS: dict[tuple[str, str], Endpoint] = {
    ("GET", "users/me/"): ProlificStub.me,
    ("GET", "workspaces/"): ProlificStub.workspaces,
    ("GET", "studies/"): ProlificStub.list_studies,
    ("GET", f"projects/{ID}/studies/"): lambda stub, _, **given: stub.list_studies(**given),
    ("POST", "studies/"): ProlificStub.create_study,
    ("GET", "participant-groups/"): ProlificStub.list_groups,
    ("POST", "participant-groups/"): ProlificStub.create_group,
    ("GET", f"participant-groups/{ID}/participants/"): ProlificStub.members,
    ("POST", f"participant-groups/{ID}/participants/"): ProlificStub.add_members,
    ("DELETE", f"participant-groups/{ID}/participants/"): ProlificStub.remove_members,
    ("GET", f"studies/{ID}/submissions/"): ProlificStub.list_submissions,
    ("GET", f"submissions/{ID}/"): ProlificStub.show_submission,
    ("GET", "hooks/secrets/"): ProlificStub.list_secrets,
    ("POST", "hooks/secrets/"): ProlificStub.create_secret,
    ("GET", "hooks/subscriptions/"): ProlificStub.list_hooks,
    ("POST", "hooks/subscriptions/"): ProlificStub.create_hook,
    ("POST", f"hooks/subscriptions/{ID}/"): ProlificStub.confirm_hook,
    ("POST", f"submissions/{ID}/transition/"): ProlificStub.transition,
    ("POST", "submissions/bonus-payments/"): ProlificStub.set_up_bonuses,
    ("POST", f"bulk-bonus-payments/{ID}/pay/"): ProlificStub.pay_bonuses,
}


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """Return the signature as in the reference's example."""
    digest = hmac.new(secret.encode(), str(timestamp).encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


@contextmanager
def serve_prolific() -> Iterator[ProlificStub]:
    """Serve the stub on a free port; its ``url`` is the base address of the API."""
    stub = ProlificStub()

    class Handler(BaseHTTPRequestHandler):
        def handle_call(self) -> None:
            parts = urlsplit(self.path)
            path = parts.path.removeprefix("/api/v1/")
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(sent) if sent else None
            stub.calls.append((self.command, path, body))
            faults = stub.faults[self.command]
            fault = faults.pop(0) if faults else None
            if self.headers["Authorization"] != f"Token {TOKEN}":
                self.reply(401, {"error": {"status": 401, "title": "Authentication failed"}})
                return
            if isinstance(fault, int):
                self.reply(fault, {"error": {"status": fault, "title": "Try again"}})
                return
            try:
                answer = stub.answer(self.command, path, dict(parse_qsl(parts.query)), body)
            except RefusedCall as refusal:
                self.reply(refusal.status, {"error": {"detail": str(refusal)}})
                return
            if fault == "lost":
                self.close_connection = True
                return
            self.reply(500 if fault else 200, answer)

        def reply(self, status: int, answer: Any) -> None:
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.send_header("X-Hook-Secret", HOOK_SECRET)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None:
            pass

    for method in ("GET", "POST", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.handle_call)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}/api/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
