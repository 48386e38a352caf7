"""Who may call, what can be read of a body, and how all that is wrong is said: one line of text."""

import json
import re
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.parser import Parser
from ninja.security import HttpBearer

from selection.access import limits, tokens
from selection.errors import Forbidden, Refused, TooMany
from selection.models import ApiToken

Scope = ApiToken.Scope
MAY = {
    Scope.READ: "look at things",
    Scope.ANSWER: "fetch open questions and send answers",
}


class Token(HttpBearer):
    """A good token that may do this.

    scopes   of those that may, besides the ones that manage; else to look is for those that read,
             and everything else for those that manage alone
    manages  whether to look, too, is for those that manage alone
    """

    def __init__(self, *scopes: Scope, manages: bool = False) -> None:
        super().__init__()
        self.scopes, self.manages = scopes, manages

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        found = tokens.of_secret(token)
        if found is None:
            place = limits.place(request)
            if limits.over("address", place, settings.API_FAILURES_PER_MINUTE):
                raise TooMany("Too many requests without a valid token: wait a minute.")
            return None
        if limits.over("token", str(found.pk), settings.API_REQUESTS_PER_MINUTE):
            raise TooMany("Too many requests with this token: wait a minute.")
        looks = request.method == "GET" and not self.manages
        scopes = self.scopes or ((Scope.READ,) if looks else ())
        if not tokens.may(found, *scopes):
            raise Forbidden(f"The token “{found}” may only {MAY[Scope(found.scope)]}.")
        return found


# JSON can spell what is no text: half of a pair of surrogates, and NUL. No database keeps them.
_SPELT = re.compile(r"\\u(0000|[dD][89a-fA-F])")
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


class Reader(Parser):
    """Puts the character that stands for an unreadable one wherever something is no text.

    So one bad value in a batch is refused by itself, with its reason.
    """

    def parse_body(self, request: HttpRequest) -> Any:
        body = request.body.decode()  # as text, because json takes other encodings for granted
        document = json.loads(body, parse_constant=_refuse)
        return _as_text(document) if _SPELT.search(body) else document


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON.")


def _as_text(value: Any) -> Any:
    if isinstance(value, str):
        return _NO_TEXT.sub("\ufffd", value)
    if isinstance(value, list):
        return [_as_text(one) for one in value]
    if isinstance(value, dict):
        return {_as_text(name): _as_text(one) for name, one in value.items()}
    return value


api = NinjaAPI(
    title="CrowdSelect",
    description="Hand out gold questions, record answers, follow a run, fetch the selection.",
    version="1",
    auth=Token(),
    parser=Reader(),
)


class ErrorOut(Schema):
    error: str


@api.exception_handler(Refused)
def refused(request: HttpRequest, error: Refused) -> HttpResponse:
    return api.create_response(request, {"error": str(error)}, status=error.status)


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return api.create_response(request, {"error": "There is nothing of this id."}, status=404)


@api.exception_handler(AuthenticationError)
def unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    message = "Send a valid API token in the header Authorization: Bearer <token>."
    return api.create_response(request, {"error": message}, status=401)


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    first = error.errors[0]
    where = ".".join(str(part) for part in first["loc"][1:] if part != "payload")
    message = f"{where}: {first['msg']}." if where else f"{first['msg']}."
    return api.create_response(request, {"error": message}, status=422)


@api.exception_handler(HttpError)
def unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Ninja says so of a body that is no JSON."""
    return api.create_response(request, {"error": f"{error}."}, status=error.status_code)


ERRORS = {(400, 401, 403, 404, 409, 413, 422, 429): ErrorOut}


def who(request: HttpRequest) -> str:
    """Who asked, for a run's history."""
    return f"token {request.auth}"  # type: ignore[attr-defined]
