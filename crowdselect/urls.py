"""The addresses of all pages."""

from django.apps import apps
from django.contrib import admin
from django.urls import include, path
from django.utils.module_loading import autodiscover_modules, module_has_submodule
from django.views.generic import RedirectView

from selection.api import api
from selection.connectors.views import receive_message
from selection.worker import gold_page, join, media, mturk, views

from .web import health
from .web.secret_links import secret_path

# Here, because processes without pages start in half the time without them.
admin.autodiscover()
autodiscover_modules("api")

# Before the admin's, which take all addresses below admin/.
app_urls = [
    path("", include(f"{app.name}.urls"))
    for app in apps.get_app_configs()
    if app.name.startswith("crowdselect.") and module_has_submodule(app.module, "urls")
]
urlpatterns = [
    *app_urls,
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", include("selection.accounts.urls")),  # its login takes the place of Django's
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("connectors/<int:pk>/messages/", receive_message, name="receive_message"),
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", health.metrics),
    secret_path("gold", gold_page.gold_page, "gold"),
    secret_path("join", join.join_run, "join"),
    secret_path("media", media.serve_media, "media"),
    secret_path("mturk", mturk.enter_from_mturk, "mturk"),
    secret_path("mturk/at", mturk.work_in_mturk, "mturk-work"),
    secret_path("work", views.work_page, "work"),
]
