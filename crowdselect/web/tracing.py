"""Error reports to Sentry, traces to OpenTelemetry, if set and installed.

Missing packages are ignored here: selection.checks reports them before the start.
"""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.conf import settings

from .logs import SECRETS
from .secret_links import LINKS, PASSWORDS

TRACING = {
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_METRICS_EXPORTER": "none",  # /metrics has them
    "OTEL_LOGS_EXPORTER": "none",
}
# A span contains its request's whole address, which is a secret for these.
LEFT_OUT = "OTEL_PYTHON_DJANGO_EXCLUDED_URLS"
HIDDEN = ",".join([*LINKS, PASSWORDS])


def start_tracing(name: str) -> None:
    if settings.SENTRY_DSN and find_spec("sentry_sdk"):
        import_module("sentry_sdk").init(
            dsn=settings.SENTRY_DSN,
            server_name=name,
            send_default_pii=False,
            max_request_body_size="never",  # answers, and who gave them
            include_local_variables=False,
            before_send=redact_secrets,
            before_breadcrumb=redact_secrets,
        )
    if settings.OPENTELEMETRY and find_spec("opentelemetry"):
        for variable, value in (TRACING | {"OTEL_SERVICE_NAME": f"crowdselect-{name}"}).items():
            os.environ.setdefault(variable, value)
        excluded = os.environ.get(LEFT_OUT, "")
        os.environ[LEFT_OUT] = ",".join(filter(None, [excluded, HIDDEN]))
        import_module("opentelemetry.instrumentation.auto_instrumentation").initialize()


def redact_secrets(event: Any, hint: Any) -> Any:
    """Write … for every secret of a link or token in the event, at any depth."""
    if isinstance(event, str):
        return SECRETS.sub("…", event)
    if isinstance(event, dict):
        return {key: redact_secrets(value, hint) for key, value in event.items()}
    if isinstance(event, list | tuple):
        return [redact_secrets(value, hint) for value in event]
    return event
