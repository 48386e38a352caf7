"""The entry point of the web server."""

import os

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")

application = get_wsgi_application()
call_command("check")  # refuses to serve with bad settings, as every command does
