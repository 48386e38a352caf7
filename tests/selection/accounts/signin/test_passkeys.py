"""Forged passkey data; passkeys themselves are tested in a real browser."""

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client

from tests.signing import ACCOUNT, LOGIN, add_app, browser, confirm, inside, person

pytestmark = pytest.mark.django_db

SIGNED = '"clientDataJSON": "e30", "authenticatorData": "AAAA", "signature": "AAAA"'
MADE = '"clientDataJSON": "e30", "attestationObject": "oA"'
NAMED = '"id": "AAAA", "rawId": "AAAA", "type": "public-key"'
HOSTILE = [
    "[]",
    "{}",
    "1",
    '"x"',
    "null",
    "[[[",
    "x" * 5000,
    '{"response": {}}',
    '{"response": []}',
    '{"id": 1, "rawId": 2, "type": "public-key", "response": {"userHandle": 1}}',
    f'{{{NAMED}, "response": {{{SIGNED}, "userHandle": "MQ"}}}}',
    f'{{{NAMED}, "response": {{{SIGNED}, "userHandle": null}}}}',
    f'{{{NAMED}, "response": {{{SIGNED}, "userHandle": "____"}}}}',
    f'{{{NAMED}, "response": {{{MADE}}}}}',
]


@pytest.mark.slow
@pytest.mark.parametrize("sent", HOSTILE, ids=range(len(HOSTILE)))
def test_invalid_passkey_opens_nothing_and_raises_no_error(sent):
    person()
    stranger = Client()
    asked = stranger.get(f"{LOGIN}passkey/", headers={"accept": "application/json"})
    assert asked.json()["request_options"]["publicKey"]["challenge"]
    assert stranger.post(f"{LOGIN}passkey/", {"credential": sent}).status_code == 302
    assert not inside(stranger)

    client = browser()
    confirm(client)
    client.get(f"{ACCOUNT}passkeys/add/")
    form = {"credential": sent, "passwordless": "on"}
    assert client.post(f"{ACCOUNT}passkeys/add/", form).status_code == 200
    assert not Authenticator.objects.exists()

    add_app(client)
    half_in = browser()
    half_in.get(f"{LOGIN}code/")
    assert half_in.post(f"{LOGIN}code/", {"credential": sent}).status_code == 200
    assert not inside(half_in)
