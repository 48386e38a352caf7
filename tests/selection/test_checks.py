"""System checks name invalid settings before the start."""

import pytest

from selection.checks import check_settings


@pytest.mark.parametrize(
    ("name", "value", "number"),
    [
        ("REDIS_URL", "http://localhost", "crowdselect.E002"),
        ("PUBLIC_URL", "crowd.example.org", "crowdselect.E003"),
        ("ADVANCE_DELAY_SECONDS", 60.0, "crowdselect.E004"),
        ("SENTRY_DSN", "https://key@sentry.example/1", "crowdselect.E012"),
        ("OPENTELEMETRY", "http://localhost:4318", "crowdselect.E012"),
        ("SWEEP_SECONDS", 3600.0, "crowdselect.W001"),
    ],
)
def test_a_bad_setting_gets_a_number_and_a_hint(settings, name, value, number):
    assert check_settings(None) == []
    setattr(settings, name, value)
    (message,) = check_settings(None)
    assert message.id == number
    assert message.hint


def test_only_sqlite_and_postgresql_are_accepted(settings, monkeypatch):
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.mysql")
    assert [message.id for message in check_settings(None)] == ["crowdselect.E001"]
