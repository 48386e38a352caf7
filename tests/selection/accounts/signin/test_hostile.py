"""Sign-in pages with odd values in address and form: no server error."""

import pytest
from django.test import Client
from django.urls import reverse

from selection.accounts.urls import urlpatterns
from tests.project.test_web_hostile import VALUES
from tests.signing import browser, confirm, person

pytestmark = pytest.mark.django_db

NAMES = ["next", "process", "error", "code", "state", "credential", "username", "account", "name"]
PARTS = {"pk": 1, "provider_id": "company", "name": "a", "uidb64": "MQ", "token": "a-b"}


def addresses() -> list[str]:
    return [
        reverse(one.name, kwargs={part: PARTS[part] for part in one.pattern.converters})
        for one in urlpatterns
    ]


@pytest.mark.slow
@pytest.mark.parametrize("who", ["a stranger", "somebody"])
def test_no_query_breaks_a_page_of_signing_in(provider, who):
    client = Client()
    if who == "somebody":
        person()
        confirm(client := browser())
    wrong = []
    for start, address in enumerate(addresses()):
        for turn, value in enumerate(VALUES[start % 4 :: 4], start):
            query = f"{NAMES[turn % len(NAMES)]}={value}"
            kind = "application/x-www-form-urlencoded"
            for answer in (
                client.get(f"{address}?{query}"),
                client.generic("POST", address, query, kind),
            ):
                if answer.status_code >= 500 and answer.status_code != 502:
                    wrong.append((address, query, answer.status_code))
    assert not wrong
