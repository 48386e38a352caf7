"""``manage.py forget_factors LOGIN``: reset a login without app, passkeys and recovery codes."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management import BaseCommand, CommandError, CommandParser

from selection.accounts import second_factor


class Command(BaseCommand):
    help = "Take the second factors away from a login: its password signs in alone again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("login")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["login"]).first()
        if user is None:
            raise CommandError(f"There is no login of the name “{options['login']}”.")
        second_factor.remove_factors(user)
        self.stdout.write(f"{user} signs in with the password alone now; all sessions have ended.")
