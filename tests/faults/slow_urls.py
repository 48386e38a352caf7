"""The project's addresses, and ``slow/``: two seconds of computing for each request."""

import time

from django.http import HttpRequest, HttpResponse
from django.urls import path

from crowdselect import urls

SECONDS = 2.0


def compute(request: HttpRequest) -> HttpResponse:
    start = time.thread_time()
    while time.thread_time() - start < SECONDS:
        pass
    return HttpResponse("done")


urlpatterns = [*urls.urlpatterns, path("slow/", compute)]
