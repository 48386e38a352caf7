"""The app, with the modules that it loads at start."""

from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from . import checks  # noqa: F401  (registers them)

# Signal receivers for saved rows and sign-ins: in every process, so that commands of manage.py are
# recorded as well. They need the models, which are not loaded above.
LISTENING = ("selection.audit.receivers", "selection.accounts.receivers")


class SelectionConfig(AppConfig):
    name = "selection"
    verbose_name = "Selection"

    def ready(self) -> None:
        for module in LISTENING:
            import_module(module)
        models = import_module("selection.models")
        post_migrate.connect(models.restore_triggers, sender=self)
        post_migrate.connect(models.make_first_team, sender=self)
