"""Secrets of apps and recovery codes, encrypted in the database."""

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from selection.accounts.adapters import FactorAdapter
from tests.signing import add_app, browser, code, inside, next_step, person, recovery_codes

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Client:
    """Ada's browser."""
    person("ada")
    return browser()


@pytest.fixture
def secret(ada: Client) -> str:
    """The secret of Ada's app."""
    return add_app(ada)


def comes_in(given: str) -> bool:
    client = browser()
    next_step(client, given)
    return inside(client)


def test_database_holds_secrets_only_encrypted(secret):
    data = [one.data for one in Authenticator.objects.all()]
    encrypted = [one[name] for one in data for name in ("secret", "seed") if name in one]
    assert len(encrypted) == 2
    assert all(FactorAdapter().decrypt(text) != text for text in encrypted)
    assert secret not in str(data)


def test_earlier_key_opens_its_secrets(ada, secret, settings):
    first, second = recovery_codes(ada)[:2]
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, that has come in the place of the one before"
    assert comes_in(first)
    assert comes_in(second)
    assert comes_in(code(secret, 1))


def test_codes_are_wrong_without_the_key_and_the_log_says_why(secret, settings, caplog):
    settings.SECRET_KEY = "a key that has nothing to do with the one that encrypted it"
    assert not comes_in(code(secret, 1))
    assert "SECRET_KEY_FALLBACKS" in caplog.text
