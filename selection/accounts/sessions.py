"""That sessions end when the way of signing in changes.

For passwords Django does so itself. Sessions are Django's own, which name nobody in a column: they
are read one by one, since only people with a login have one, and a change is rare.
"""

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from selection.audit.log import asking


def end_sessions(user: User) -> None:
    """All of this person's, but for the one in which they make the change themselves."""
    request, kept = asking.get(), None
    if request is not None and request.user == user:
        kept = request.session.session_key
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        mine = session.get_decoded().get(SESSION_KEY) == str(user.pk)
        if mine and session.session_key != kept:
            session.delete()
