"""Header Idempotency-Key: a repeated request creates nothing a second time.

The response is stored in one transaction with the new object. A concurrent request with the same
key waits for that transaction; a refused request is not stored and may be repeated. Rows are swept
after a day (tasks.sweep).
"""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from ninja import Schema, Status

from selection.errors import Refused
from selection.models import IdempotencyKey

HEADER = "Idempotency-Key"
LONGEST = 200
OTHERWISE = (
    f"This {HEADER} was used for another request; give each request that creates something a key "
    "of its own."
)
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


def idempotent(schema: type[Schema]) -> Callable[[View], View]:
    """Decorate a view that creates an object; the status is 201.

    schema  read from the view's result, and documented as its response
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def create(request: HttpRequest, **values: Any) -> Status[Any]:
            key = request.headers.get(HEADER)
            if key is None:
                return Status(201, view(request, **values))
            return Status(
                201, _create_or_replay(schema, lambda: view(request, **values), request, key)
            )

        vars(create).update(response={201: schema}, openapi_extra=KEYED)
        return create

    return decorate


@transaction.atomic
def _create_or_replay(
    schema: type[Schema], create: Callable[[], Any], request: HttpRequest, key: str
) -> Schema:
    if not 0 < len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        raise Refused(f"The header {HEADER} has 1 to {LONGEST} plain characters.")
    token, digest = request.auth, _request_digest(request)  # type: ignore[attr-defined]
    defaults = {"digest": digest}
    row, new = IdempotencyKey.objects.get_or_create(token=token, key=key, defaults=defaults)
    if not new and row.digest != digest:
        raise Refused(OTHERWISE)
    if new:
        row.reply = schema.model_validate(create()).model_dump(mode="json", by_alias=True)
        row.save(update_fields=["reply"])
    return schema.model_validate(row.reply)


def _request_digest(request: HttpRequest) -> str:
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type != "multipart/form-data":
        digest.update(request.body)
    for name in sorted(request.FILES):  # the boundary between parts is random
        file: Any = request.FILES[name]
        digest.update(f"{name} {file.name} {file.size}\n".encode())
        digest.update(file.read())
        file.seek(0)
    return digest.hexdigest()
