"""Forgotten password: a link by e-mail, if a mail server is set."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.pages import text_of

from .conftest import send_all

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", "old-password", is_staff=True)


def ask_for(address: str) -> str:
    return text_of(Client().post(reverse("forgotten"), {"email": address}, follow=True))


def test_a_link_by_e_mail_sets_a_new_password_once(mailbox, ada):
    assert "Forgotten password?" in text_of(Client().get(reverse("account_login")))
    for _ in range(3):
        assert "a link is on its way" in ask_for("ADA@example.org")
    send_all()
    (letter,) = mailbox.letters
    link = re.search(r"https?://[^/\s]+(/admin/password/\S+/)", letter.get_content())[1]
    page = Client()
    form = page.get(link, follow=True)
    sent = {"new_password1": "a-newer-password", "new_password2": "a-newer-password"}
    assert "Your password is set." in text_of(
        page.post(form.request["PATH_INFO"], sent, follow=True)
    )
    ada.refresh_from_db()
    assert ada.check_password("a-newer-password")
    assert "has been used" in text_of(Client().get(link))


def test_the_reply_tells_nobody_whether_there_is_a_login(mailbox, ada):
    assert ask_for("nobody@example.org") == ask_for("ada@example.org")
    ada.set_unusable_password()
    ada.save()
    assert "a link is on its way" in ask_for("ada@example.org")
    send_all()
    assert mailbox.letters == []


def test_without_a_mail_server_the_link_is_not_offered(ada, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert "Forgotten password?" not in text_of(Client().get(reverse("account_login")))
