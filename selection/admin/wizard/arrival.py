"""Where people answer: the settings of a run that follow from the chosen platform."""

from typing import Any

from selection.models import Completion, Platform, Run
from selection.runs.roster import join_platforms

from .plan_input import FieldError

# Platforms whose projects have return addresses of their own.
OWN_ADDRESS = (Platform.CONNECT, Platform.BESAMPLE, Platform.SONA, Platform.CUSTOM)


def read_arrival(settings: dict[str, Any]) -> dict[str, Any]:
    """Complete the settings by those that the platform needs. Raises FieldError.

    People of a platform join by a link, so the roster is open. Without an address back workers
    hand in a code. Values of other platforms, whose fields are hidden, do not count.
    """
    platform = settings["platform"]
    parameter = settings["worker_parameter"] if platform == Platform.CUSTOM else ""
    address = settings["completion_url"] if platform in OWN_ADDRESS else ""
    leads_back = not platform or address or join_platforms.JOIN_PLATFORMS[platform].back
    arrival = {
        "platform": platform,
        "worker_parameter": parameter,
        "completion_url": address,
        "completion": settings.get("completion")
        or (Completion.REDIRECT if leads_back else Completion.CODE),
    }
    for field, reason in join_platforms.validate_platform(Run(**arrival)).items():
        raise FieldError(field, reason)
    return settings | arrival | {"enrolling": settings["enrolling"] or bool(platform)}
