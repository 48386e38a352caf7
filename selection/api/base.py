"""Who may call, and how everything that is wrong is said: one line of text."""

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, ValidationError
from ninja.security import HttpBearer

from selection.errors import Refused
from selection.models import ApiToken

_NAMES = ApiToken.objects.values_list("name", flat=True).order_by()


class Token(HttpBearer):
    def authenticate(self, request: HttpRequest, token: str) -> str | None:
        """The name of the token, if it is a valid one."""
        return next(iter(_NAMES.filter(digest=ApiToken.digest_of(token))), None)


api = NinjaAPI(
    title="CrowdSelect",
    description="Hand out gold questions, record answers, follow a run, fetch the selection.",
    version="1",
    auth=Token(),
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


ERRORS = {(401, 404, 409, 422): ErrorOut}


def who(request: HttpRequest) -> str:
    """Who asked, for a run's history."""
    return f"token {request.auth}"  # type: ignore[attr-defined]
