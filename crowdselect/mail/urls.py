"""Addresses of the app."""

from django.urls import path
from django.views.decorators.http import require_POST

from crowdselect.web.secret_links import secret_path

from .pages import system, wishes
from .pages.unsubscribe import unsubscribe

urlpatterns = [
    path("admin/account/mail/", require_POST(wishes.change_wishes), name="account_mail"),
    path("admin/system/mail/", require_POST(system.send_test), name="test_mail"),
    secret_path("unsubscribe", unsubscribe, "unsubscribe"),
]
