"""The header Idempotency-Key: a request that is sent again creates nothing a second time.

What was answered is stored in one transaction with what was created. A request of the same key that
comes meanwhile waits for that transaction; one that was refused is stored nowhere, and may be sent
again. Rows are swept after a day (tasks.sweep).
"""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from ninja import Schema, Status

from selection.errors import Refused
from selection.models import Creation

HEADER = "Idempotency-Key"
LONGEST = 200
OTHERWISE = (
    f"This {HEADER} was used for another request; give each request that creates something a key "
    "of its own."
)
# For an operation's ``openapi_extra``.
KEYED: dict[str, Any] = {
    "parameters": [
        {
            "in": "header",
            "name": HEADER,
            "required": False,
            "description": "Any text of your own, a random UUID for one. For a day the same "
            "request under the same key creates nothing more and gets the first answer; another "
            "request under it is refused with 422.",
            "schema": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST,
                "pattern": "^[!-~]+$",
                "examples": ["3f1d6f0c-6a0e-4c5b-9d0e-0d4c5d7b1a52"],
            },
        }
    ]
}

View = Callable[..., Any]


def idempotent(out: type[Schema]) -> Callable[[View], View]:
    """For a view that creates something and returns what ``out`` is read from: it answers 201."""

    def decorate(view: View) -> View:
        @wraps(view)
        def create(request: HttpRequest, **values: Any) -> Status[Any]:
            key = request.headers.get(HEADER)
            if key is None:
                return Status(201, view(request, **values))
            return Status(
                201, _create_or_replay(out, lambda: view(request, **values), request, key)
            )

        return create

    return decorate


@transaction.atomic
def _create_or_replay(
    out: type[Schema], create: Callable[[], Any], request: HttpRequest, key: str
) -> Schema:
    if not 0 < len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        raise Refused(f"The header {HEADER} has 1 to {LONGEST} plain characters.")
    token, digest = request.auth, _request_digest(request)  # type: ignore[attr-defined]
    row, new = Creation.objects.get_or_create(token=token, key=key, defaults={"digest": digest})
    if not new and row.digest != digest:
        raise Refused(OTHERWISE)
    if new:
        row.reply = out.model_validate(create()).model_dump(mode="json")
        row.save(update_fields=["reply"])
    return out.model_validate(row.reply)


def _request_digest(request: HttpRequest) -> str:
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type != "multipart/form-data":
        digest.update(request.body)
    for name in sorted(request.FILES):  # what stands between them is new every time
        file: Any = request.FILES[name]
        digest.update(f"{name} {file.name} {file.size}\n".encode())
        digest.update(file.read())
        file.seek(0)
    return digest.hexdigest()
