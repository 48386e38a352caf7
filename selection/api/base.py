"""Basis of the API: authentication, parsing of bodies, and errors as one line of text."""

import json
import re
from collections.abc import Callable
from functools import cached_property, wraps
from hashlib import sha256
from typing import Any, TypeVar, get_args

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path, register_converter
from django.urls.converters import StringConverter
from django.views.decorators.http import etag
from ninja import Field, NinjaAPI, Router, Schema, Status
from ninja.constants import NOT_SET
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.parser import Parser
from ninja.responses import NinjaJSONEncoder
from ninja.security import HttpBearer

from selection.accounts import rate_limits, scoped, tokens
from selection.errors import Forbidden, Refused, TooMany, WrongKind
from selection.limits import MB
from selection.models import ApiToken
from selection.outside_text import clean_document, refuse_many_values

from .field_errors import describe_field_error
from .pagination import NEXT

Scope = ApiToken.Scope
Row = TypeVar("Row", bound=Model)
MAY = {Scope.READ: "look at things", Scope.ANSWER: "fetch open questions and send answers"}


class KeyConverter(StringConverter):
    """The id of a worker or a question in an address: any characters, even line breaks."""

    regex = r"[\s\S]+"


register_converter(KeyConverter, "key")


class Token(HttpBearer):
    """Authentication by a valid token with the necessary scope.

    scopes   sufficient besides the scope to manage; default: to read for GET, none for the rest
    manages  True if GET needs the scope to manage as well
    """

    def __init__(self, *scopes: Scope, manages: bool = False) -> None:
        super().__init__()
        self.scopes, self.manages = scopes, manages

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        api_token = tokens.token_of_secret(token)
        if api_token is None:
            client = rate_limits.client_network(request)
            if rate_limits.is_over_limit("address", client, settings.API_FAILURES_PER_MINUTE):
                raise TooMany("Too many requests without a valid token: wait a minute.")
            return None
        if rate_limits.is_over_limit("token", str(api_token.pk), settings.API_REQUESTS_PER_MINUTE):
            raise TooMany("Too many requests with this token: wait a minute.")
        reads = request.method == "GET" and not self.manages
        scopes = self.scopes or ((Scope.READ,) if reads else ())
        if not tokens.has_scope(api_token, *scopes):
            raise Forbidden(f"The token “{api_token}” may only {MAY[Scope(api_token.scope)]}.")
        return api_token


_JSON = re.compile(r"application/([\w.-]+\+)?json")


class Reader(Parser):
    """Parser of JSON bodies that replaces unreadable characters by U+FFFD.

    So a bad value in a batch is refused by itself, with its reason.
    """

    def parse_body(self, request: HttpRequest) -> Any:
        if request.content_type and not _JSON.fullmatch(request.content_type):
            raise WrongKind(
                f"The body is {request.content_type[:80]}; send JSON, and the header "
                "Content-Type: application/json."
            )
        refuse_many_values(request.body)
        body = request.body.decode()  # json.loads itself accepts UTF-16 and UTF-32 as well
        document = json.loads(body, parse_constant=_refuse_constant)
        if not isinstance(document, dict):
            raise Refused('The body must be a JSON object, as in {"name": "value"}.')
        return clean_document(document)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON.")


ABOUT = f"""Pools, gold questions, runs, answers, standings and the selection.

- Send your token as `Authorization: Bearer cs_…`.
- A list returns at most `limit` items. The header `Link: <…>; rel="next"` has the next page.
- An error is `{{"error": "one line"}}`, with `field` if one is at fault.
- Send an `Idempotency-Key` with requests that create an object. If you repeat the request with the
  same key, you get the first response and no second object is created.
- A request body has at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE // MB} MB, or
  {settings.MOST_UPLOADED // MB} MB with a file.
- docs/api.md shows a complete run, step by step."""
RETRY = {
    "Retry-After": {
        "description": "Seconds to wait.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 60},
    }
}


# The group of a module's endpoints in the document, if not its own name; "runs" in the room run.
TAGS = {
    **dict.fromkeys(("media", "practice", "question_sets"), "questions"),
    **dict.fromkeys(("model_servers", "pool_models", "run_calls"), "models"),
    **dict.fromkeys(("personal", "submissions"), "workers"),
}


class Api(NinjaAPI):
    """API with documented response headers.

    Its OpenAPI document is public and slow to build: it is built once per process, and sent as
    bytes, or as 304 if the client has it already.
    """

    def get_openapi_operation_id(self, operation: Any) -> str:
        return str(operation.view_func.__name__)

    def get_openapi_schema(self, **options: Any) -> Any:
        document = super().get_openapi_schema(**options)
        for operations in document["paths"].values():
            for operation in operations.values():
                for status in (429, 503):
                    operation["responses"][status]["headers"] = RETRY
                for parameter in operation["parameters"]:
                    parameter.pop("examples", None)  # its schema has them in OpenAPI's format
        return document

    @cached_property
    def document(self) -> bytes:
        return json.dumps(self.get_openapi_schema(), cls=NinjaJSONEncoder).encode()

    @cached_property
    def document_etag(self) -> str:
        return f'"{sha256(self.document).hexdigest()[:32]}"'

    def _get_urls(self) -> list[Any]:
        route = path(str(self.openapi_url).lstrip("/"), _send_document, name="openapi-json")
        return [route, *super()._get_urls()]


def _etag_of_document(request: HttpRequest) -> str:
    return api.document_etag


@etag(_etag_of_document)
def _send_document(request: HttpRequest) -> HttpResponse:
    return HttpResponse(api.document, content_type="application/json; charset=utf-8")


class ErrorOut(Schema):
    """Body of every response with a status of 400 or more."""

    error: str = Field(
        description="One line: the fault, and a correct value or action.",
        examples=["Send a valid API token in the header Authorization: Bearer <token>."],
    )
    field: str = Field(
        "",
        description="The field with the fault, for example “answers.3.response”. Omitted if the "
        "error is not about a field. Rows are counted from 0.",
    )


class ErrorBody(Schema):
    response: ErrorOut


# Built once for all endpoints: ninja builds what an endpoint lists for each endpoint and status.
ERRORS = dict.fromkeys((400, 401, 403, 404, 409, 413, 415, 422, 429, 503), ErrorBody)


def _reply_empty(view: Callable[..., None]) -> Callable[..., Status[None]]:
    @wraps(view)
    def reply(*args: Any, **values: Any) -> Status[None]:
        view(*args, **values)
        return Status(204, None)

    return reply


class Endpoints(Router):
    """Router that documents the errors of every endpoint, and the headers of lists and keys."""

    def add_api_operation(
        self,
        path: str,
        methods: list[str],
        view_func: Any,
        *,
        response: Any = NOT_SET,
        openapi_extra: dict[str, Any] | None = None,
        tags: list[str] | None = None,
        **options: Any,
    ) -> None:
        """Add an endpoint. A view decorated by ``idempotent`` has its response and its header.

        A view without a result has the status 204, and one with a job the header Location.
        """
        response = getattr(view_func, "response", response)
        if "return" in view_func.__annotations__ and view_func.__annotations__["return"] is None:
            response, view_func = {204: None}, _reply_empty(view_func)
        if response is not NOT_SET:
            response = response if isinstance(response, dict) else {200: response}
        query = get_args(view_func.__annotations__.get("query"))
        if query and "cursor" in query[0].model_fields:
            openapi_extra = openapi_extra or NEXT
        if response is not NOT_SET:
            openapi_extra = getattr(response.get(202), "LATER", openapi_extra)
        options["openapi_extra"] = getattr(view_func, "openapi_extra", openapi_extra)
        # For example selection.api.pools, or crowdselect.mail.api of an app.
        project, app, *rest = view_func.__module__.split(".")
        module = "_".join(rest) if project == "selection" else app.replace("_", " ")
        options["tags"] = tags or [TAGS.get(module, "runs" if module[:4] == "run_" else module)]
        super().add_api_operation(path, methods, view_func, response=response, **options)
        if response is not NOT_SET:
            self.path_operations[path].operations[-1].response_models |= ERRORS


api = Api(
    title="CrowdSelect",
    description=ABOUT,
    version="1",
    auth=Token(),
    parser=Reader(),
    default_router=Endpoints(),
)


@api.exception_handler(Refused)
def answer_refused(request: HttpRequest, error: Refused) -> HttpResponse:
    response = api.create_response(request, {"error": str(error)}, status=error.status)
    if isinstance(error, TooMany):
        response["Retry-After"] = str(error.seconds or rate_limits.seconds_left())
    return response


@api.exception_handler(Http404)
def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return api.create_response(request, {"error": "The object is not in your team."}, status=404)


@api.exception_handler(AuthenticationError)
def answer_unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    message = "Send a valid API token in the header Authorization: Bearer <token>."
    response = api.create_response(request, {"error": message}, status=401)
    response["WWW-Authenticate"] = "Bearer"
    return response


@api.exception_handler(ValidationError)
def answer_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    changes_run = request.method == "PATCH" and request.path.startswith("/api/runs/")
    where, message = describe_field_error(error.errors[0], changes_run)
    body = {"error": message} | ({"field": where} if where else {})
    return api.create_response(request, body, status=422)


@api.exception_handler(IntegrityError)
def answer_raced(request: HttpRequest, error: IntegrityError) -> HttpResponse:
    """Return 409: a value that was free when checked has been taken since."""
    message = "The same change was made a moment ago; send the request again."
    return api.create_response(request, {"error": message}, status=409)


@api.exception_handler(HttpError)
def answer_unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    """Return the error; Ninja wraps any failure to parse the body in HttpError."""
    if isinstance(error.__cause__, Refused):
        return answer_refused(request, error.__cause__)
    return api.create_response(request, {"error": f"{error}."}, status=error.status_code)


def describe_location(words: str) -> dict[str, Any]:
    location = {"description": words, "schema": {"type": "string"}}
    return {"responses": {202: {"headers": {"Location": location}}}}


def find_object(request: HttpRequest, model: type[Row], pk: Any) -> Row:
    """Find the object in the token's team. Raises Http404."""
    row: Row = get_object_or_404(scoped(model, request), pk=pk)
    return row


def requester_name(request: HttpRequest) -> str:
    return f"token {request.auth}"  # type: ignore[attr-defined]


def may_manage(request: HttpRequest) -> bool:
    return tokens.has_scope(request.auth)  # type: ignore[attr-defined]
