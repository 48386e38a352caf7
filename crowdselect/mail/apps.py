"""The app for e-mail to workers and members."""

from importlib import import_module

from django.apps import AppConfig


class MailConfig(AppConfig):
    name = "crowdselect.mail"
    verbose_name = "E-mail"

    def ready(self) -> None:
        import_module("crowdselect.mail.plugs")  # needs the models
