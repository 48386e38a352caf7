"""The page to unsubscribe, behind a signed link."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from crowdselect.mail import opt_outs
from selection.worker.languages import worker_language
from selection.worker.rate_limit import limit_failures


@csrf_exempt  # the secret is in the address; mail programs post to it (RFC 8058)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@worker_language
@limit_failures
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Show a button, because virus scanners open links; a POST unsubscribes at once.

    A POST with ``again`` undoes it.
    """
    worker = opt_outs.worker_of(token)
    if worker is None:
        return render(request, "work/lost.html", status=404)
    if request.method == "POST":
        (opt_outs.opt_in if "again" in request.POST else opt_outs.opt_out)(worker)
        if "List-Unsubscribe" not in request.POST:  # mail programs follow no redirect
            return redirect(request.get_full_path())
    return render(request, "mail/unsubscribe.html", {"opted_out": opt_outs.is_opted_out(worker)})
