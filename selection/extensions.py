"""What apps add to the core, which knows none of them by name.

An app fills these lists in its module ``admin``. That and its module ``api``, which adds addresses
to the API, are loaded by processes with pages only. What Celery does for it are jobs: its modules
with ``selection.outbox.jobs.perform`` are loaded when it starts (``AppConfig.ready``).
"""

from typing import Any

# Pages below the list of runs (``selection.admin.page.Page``).
RUN_PAGES: list[type[Any]] = []
# Templates that are included at the end of the overview, for users who may create runs.
OVERVIEW_PIECES: list[str] = []
