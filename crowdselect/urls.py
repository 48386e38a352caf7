"""The addresses of all pages."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from selection.api import api
from selection.connectors.views import receive_message
from selection.mail import pages as mail_pages
from selection.worker import gold_page, join, media, mturk, views

from .web import health

admin.autodiscover()  # here, because processes without pages start in half the time without them

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", include("selection.accounts.urls")),  # its login takes the place of Django's
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("connectors/<int:pk>/messages/", receive_message, name="receive_message"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    path("gold/<str:token>/", gold_page.gold_page, name="gold"),
    path("join/<str:token>/", join.join_run, name="join"),
    path("media/<str:token>/", media.serve_media, name="media"),
    path("mturk/<str:token>/", mturk.enter_from_mturk, name="mturk"),
    path("mturk/at/<str:token>/", mturk.work_in_mturk, name="mturk-work"),
    path("unsubscribe/<str:token>/", mail_pages.unsubscribe, name="unsubscribe"),
    path("work/<str:token>/", views.work_page, name="work"),
]
