"""The app, and what it does once at start."""

from django.apps import AppConfig

from . import checks  # noqa: F401  (registers them)


class SelectionConfig(AppConfig):
    name = "selection"
    verbose_name = "Selection"
