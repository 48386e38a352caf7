"""Terms of the pages are links to their explanation."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse

from tests.pages import open_form

pytestmark = pytest.mark.django_db

USE = re.compile(r'\{% term "([^"]+)"')


def test_linked_terms_are_explained(admin_client):
    page = admin_client.get(reverse("terms")).content.decode()
    folder = Path(settings.BASE_DIR) / "templates"
    used = {anchor for path in folder.rglob("*.html") for anchor in USE.findall(path.read_text())}
    assert {"gold-question", "guarantee", "verdict"} <= used
    assert [anchor for anchor in used if f'id="{anchor}"' not in page] == []


def test_the_form_of_a_run_links_its_terms(admin_client):
    page = open_form(admin_client).content.decode()
    for anchor in ("epsilon", "delta", "budget"):
        assert f'href="/admin/terms/#{anchor}"' in page


def test_the_terms_need_a_login(client):
    assert client.get(reverse("terms")).status_code == 302


def test_the_documentation_needs_a_login_and_knows_its_pages(client, admin_client):
    assert client.get(reverse("docs", args=["README"])).status_code == 302
    assert admin_client.get(reverse("docs", args=["hooks"])).status_code == 404
    shown = admin_client.get(reverse("docs", args=["README"])).content.decode()
    assert f'href="{reverse("docs", args=["glossary"])}"' in shown
