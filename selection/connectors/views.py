"""The address for messages of other programs; each carries its connection's secret."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from selection.errors import Refused
from selection.models import Connection, RunConnection

from . import intake
from .connector import Incoming
from .faults import NotAuthentic


def message_address(link: RunConnection) -> str:
    return str(settings.PUBLIC_URL) + reverse("receive_message", args=[link.connection_id])


@csrf_exempt  # programs have no session; the secret is in the message
@require_POST
def receive_message(request: HttpRequest, pk: int) -> HttpResponse:
    """Store the news in a message. Repeats change nothing."""
    connection = Connection.objects.filter(pk=pk).first()
    headers = {name.lower(): value for name, value in request.headers.items()}
    try:
        if connection is None:
            raise NotAuthentic
        changed = intake.receive_message(connection, Incoming(headers, request.body))
    except NotAuthentic:
        error = "The message does not carry the connection's secret."
        return JsonResponse({"error": error}, status=403)
    except Refused as refusal:
        return JsonResponse({"error": str(refusal)}, status=refusal.status)
    return JsonResponse({"changed": changed})
