"""The project's addresses, and ``slow/``: two seconds of computing for whoever asks."""

import time

from django.http import HttpRequest, HttpResponse
from django.urls import path

from crowdselect.urls import urlpatterns as project_patterns

SECONDS = 2.0


def compute(request: HttpRequest) -> HttpResponse:
    begun = time.thread_time()
    while time.thread_time() - begun < SECONDS:
        pass
    return HttpResponse("done")


urlpatterns = [*project_patterns, path("slow/", compute)]
