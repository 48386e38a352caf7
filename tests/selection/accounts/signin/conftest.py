"""A provider of single sign-on, configured by the environment."""

from collections.abc import Iterator

import pytest

from crowdselect import single_sign_on
from crowdselect.environment import Environment
from tests import oidc


@pytest.fixture
def provider(monkeypatch, settings) -> Iterator[oidc.Provider]:
    with oidc.providing() as server:
        for name, value in oidc.environment(server).items():
            monkeypatch.setenv(name, value)
        apps = single_sign_on.read_providers(Environment())
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": apps}}
        yield server
