"""The pages of a run's e-mail, and pieces of other pages."""

from collections.abc import Mapping
from typing import Any

from selection import extensions
from selection.extensions import Piece

from . import invitations
from .models import has_server
from .pages import run_mail, system, wishes

Context = Mapping[str, Any]


def _undelivered(context: Context) -> Context | None:
    return {} if invitations.failed_mails(context["run"]).exists() else None


def _invitation(context: Context) -> Context | None:
    """Offer e-mail to workers with an address, if there is a mail server."""
    if not context["entrance"].reachable or not has_server():
        return None
    return {"invited": len(invitations.invited_keys(context["run"]))}


def _missing(context: Context) -> Context | None:
    entrance = context["entrance"]
    offered = entrance.reachable and has_server()
    return {} if entrance.present and not offered else None


def _mails(context: Context) -> Context | None:
    mails = invitations.mails_to(context["candidate"])
    return {"mails": mails} if mails else None


extensions.RUN_PAGES.extend([run_mail.MailPage, run_mail.SendPage])
for place, piece in {
    "run": Piece("mail/undelivered.html", _undelivered),
    "run files": Piece("mail/run_files.html"),
    "bring in": Piece("mail/bring_in.html", _invitation),
    "bring in otherwise": Piece("mail/bring_in_missing.html", _missing),
    "worker": Piece("mail/worker.html", _mails),
    "account": Piece("mail/account.html", wishes.wish_facts),
    "system": Piece("mail/system.html", system.server_facts),
}.items():
    extensions.PIECES[place].append(piece)
