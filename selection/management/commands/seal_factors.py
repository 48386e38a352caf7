"""``manage.py seal_factors``: re-encrypt second factors after SECRET_KEY was replaced."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management import BaseCommand
from django.db import transaction

from selection.accounts import secret_encryption


class Command(BaseCommand):
    help = "Seal authenticator apps and recovery codes with the present SECRET_KEY."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        number = secret_encryption.reencrypt_all(Authenticator.objects.all())
        self.stdout.write(f"Sealed {number} with the present key.")
