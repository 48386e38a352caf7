"""Sessions that end when a way of signing in changes.

For passwords Django does this itself. Its sessions have no column for the user: they are read one
by one, since only people with a login have any, and changes are rare.
"""

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from selection import db_clock
from selection.audit.log import asking


def end_sessions(user: User) -> None:
    """Delete all sessions of the user, except the one that makes the change."""
    request, own_key = asking.get(), None
    if request is not None and request.user == user:
        own_key = request.session.session_key
    for session in Session.objects.filter(expire_date__gt=db_clock.database_now()).iterator():
        belongs = session.get_decoded().get(SESSION_KEY) == str(user.pk)
        if belongs and session.session_key != own_key:
            session.delete()
