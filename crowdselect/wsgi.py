"""The entry point of the web server."""

import os

from django.core.management import call_command
from django.core.signals import request_started
from django.core.wsgi import get_wsgi_application

from . import broker, celery_app
from .web import tracing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")

tracing.start_tracing("web")  # before the middleware is put together, which it adds to
application = get_wsgi_application()
broker.shorten_retries(celery_app)
call_command("check")  # refuses to serve with invalid settings, as every command does

from .web import heartbeat  # noqa: E402  (needs the apps)

__all__ = ["application", "heartbeat"]

# With any web server, in each of its processes.
request_started.connect(heartbeat.start_heartbeat)
