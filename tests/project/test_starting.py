"""Modules loaded by a process without pages."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings

LOADS = """
import json, sys
import django
django.setup()
from django.db.models.signals import post_delete, pre_save
from allauth.mfa.models import Authenticator
from selection.models import Run
heard = [pre_save.has_listeners(Run), post_delete.has_listeners(Authenticator)]
from crowdselect.celery import app
app.loader.import_default_modules()
print(json.dumps([heard, sorted(app.tasks), sorted(sys.modules)]))
"""
PAGES = {"crowdselect.urls", "selection.admin", "selection.api"}
LARGE = {"numpy.f2py", "scipy.optimize", "scipy.special", "scipy.stats"}


@pytest.mark.slow
def test_celery_worker_loads_the_tasks_without_the_pages_and_records_its_work():
    own = os.environ | {"DJANGO_SETTINGS_MODULE": "crowdselect.settings"}
    said = subprocess.run(
        [sys.executable, "-c", LOADS],
        cwd=settings.BASE_DIR,
        env=own,
        check=True,
        capture_output=True,
    )
    heard, tasks, modules = json.loads(said.stdout.splitlines()[-1])
    assert heard == [True, True]
    assert {"selection.tasks.advance", "selection.tasks.sweep"} <= set(tasks)
    assert not (PAGES | LARGE) & set(modules)
