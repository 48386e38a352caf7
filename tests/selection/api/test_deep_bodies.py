"""Bodies that are nested deeply are refused, wherever they would be stored."""

import pytest
from django.test import Client

from selection.models import ApiToken

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("deep", ["[" * 300_000, "[" * 5_000 + "]" * 5_000, '{"a":' * 200])
@pytest.mark.parametrize("path", ["pools/1/models", "pools"])
def test_a_deep_body_is_refused(deep, path):
    client = Client(headers={"authorization": f"Bearer {ApiToken.issue('program')}"})
    body = f'{{"name": "x", "models": [{{"model": {deep}}}]}}'
    reply = client.post(f"/api/{path}", body, content_type="application/json")
    assert reply.status_code == 400
