"""The app, and what it does once at start."""

from importlib import import_module

from django.apps import AppConfig

from . import checks  # noqa: F401  (registers them)

# What happens by itself when a row is saved or somebody signs in: in every process, so that no
# command of manage.py goes unrecorded either. They need the tables, which are not there above.
LISTENING = ("selection.audit.receivers", "selection.accounts.receivers")


class SelectionConfig(AppConfig):
    name = "selection"
    verbose_name = "Selection"

    def ready(self) -> None:
        for module in LISTENING:
            import_module(module)
