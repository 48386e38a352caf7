"""Where every address leads."""

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from selection import views
from selection.api import api

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index")),
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("work/<str:token>/", views.work, name="work"),
]
