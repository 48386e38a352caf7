"""The mail server, on the page of the system."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from crowdselect.mail import server
from selection.errors import Refused
from selection.imports.row_parsers import read_email


def server_facts(context: Mapping[str, Any]) -> dict[str, Any]:
    address = getattr(context["request"].user, "email", "")
    return {"mail": server.describe_settings(), "address": address}


@user_passes_test(lambda user: user.is_superuser)
def send_test(request: HttpRequest) -> HttpResponse:
    try:
        address = read_email(request.POST.get("address", ""))
        if not address:
            raise Refused("Enter an address for the test message.")
        messages.success(request, server.send_test(address))
    except Refused as refusal:
        messages.error(request, str(refusal))
    return redirect("admin:selection_heartbeat_changelist")
