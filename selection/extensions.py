"""Registries of what apps add to the core: it imports no app.

An app fills these lists when it starts: those of pages in its module ``admin``, which only
processes with pages load, as its modules ``api`` and ``urls``; the others in a module that
``AppConfig.ready`` imports. Work for Celery is a job (``selection.outbox.jobs.perform``) or a task
in its module ``tasks``.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Piece:
    """A piece of a page.

    template  rendered in the page's context
    facts     adds values to that context; None leaves the piece out
    """

    template: str
    facts: Callable[[Facts], Facts | None] = lambda context: {}


@dataclass(frozen=True)
class PasswordMail:
    """Delivery of links to set a password.

    works    tells if messages leave this machine
    request  has the link sent to a user
    """

    works: Callable[[], bool]
    request: Callable[[Any], object]


@dataclass(frozen=True)
class AlertListener:
    """A listener to new alerts of runs.

    followed  makes a condition of runs to check
    tell      is called with a run and the words of its new alerts, in the transaction that marks
              them as told
    """

    followed: Callable[[], Any]
    tell: Callable[[Any, list[str]], object]


@dataclass(frozen=True)
class PersonalData:
    """Erasure and export of an app's data about workers.

    erase   is called with the rows of a worker, in all pools of a team, their pseudonym and a
            function that replaces their names in a text, in the transaction that erases them
    export  returns the data about a worker in a run, by name
    """

    erase: Callable[[Sequence[Any], str, Callable[[str], str]], object]
    export: Callable[[Any], Facts]


# Pieces of pages by place: overview, run, run files, bring in, bring in otherwise, worker, account,
# system. The template tag ``pieces`` draws them.
PIECES: defaultdict[str, list[Piece]] = defaultdict(list)
# Pages below the list of runs or below a run (``selection.admin.page.Page``).
RUN_PAGES: list[type[Any]] = []
# Ids of the workers of a run, of those given, that were invited.
INVITED: list[Callable[[Any, Iterable[str]], set[str]]] = []
# Called by each sweep: they make up for lost messages.
SWEEPS: list[Callable[[], object]] = []
ALERT_LISTENERS: list[AlertListener] = []
PERSONAL_DATA: list[PersonalData] = []
PASSWORD_MAIL: list[PasswordMail] = []


def can_mail_passwords() -> bool:
    return any(mail.works() for mail in PASSWORD_MAIL)
