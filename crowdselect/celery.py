"""The Celery application. Tasks are found in ``selection.tasks`` and ``research.tasks``."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdselect.settings")

app = Celery("crowdselect", include=["research.tasks"])
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
