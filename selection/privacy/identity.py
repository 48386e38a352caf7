"""Who is meant: a platform's id is one person in all pools of a team. And where they are named."""

import re
from collections.abc import Collection, Iterable

from django.db.models import Q, QuerySet

from selection.models import AuditEntry, Event, Run, Team, Worker, plain_key, stored_spellings

# Events whose words name workers; in those of other kinds a short id would be found by chance.
NAMING = (
    "withdraw",
    "take back",
    "leave",
    "absent",
    "screened",
    "regrade",
    "by hand",
    "link",
    "recount",
)


WRITTEN = ("added", "changed", "deleted")  # entries that hold a run's settings


def same_person(key: str, team: Team | int) -> list[Worker]:
    """All rows of this id in the team's pools; empty where there is none."""
    rows = Worker.objects.filter(key__in=stored_spellings([key]), pool__team=team)
    return list(rows.select_related("pool").order_by("pk"))


def same_people(known: Collection[tuple[str, int]]) -> list[list[Worker]]:
    """The same of many, by their plain ids and teams, but of whoever is not there."""
    keys, teams = stored_spellings(key for key, _ in known), {team for _, team in known}
    rows = Worker.objects.filter(key__in=keys, pool__team__in=teams)
    found: dict[tuple[str, int | None], list[Worker]] = {}
    for row in rows.select_related("pool").order_by("pk"):
        found.setdefault((plain_key(row.key), row.pool.team_id), []).append(row)
    return [found[one] for one in known if one in found]


def runs_of(rows: Iterable[Worker]) -> QuerySet[Run]:
    return Run.objects.filter(candidates__worker__in=list(rows)).distinct().order_by("pk")


def mention_pattern(names: Iterable[str]) -> re.Pattern[str]:
    """Finds these names as whole words."""
    known = sorted(stored_spellings(filter(None, names)), key=len, reverse=True)
    return re.compile(rf"(?<![\w@/-])(?:{'|'.join(map(re.escape, known))})(?![\w@/-])")


def events_of(rows: Iterable[Worker]) -> QuerySet[Event]:
    """Of their runs, those that may name them, in their words or in a reason given."""
    mine = Event.objects.filter(run__in=runs_of(rows))
    return mine.filter(Q(kind__in=NAMING) | ~Q(why="")).order_by("pk")


def entries_of(rows: list[Worker]) -> QuerySet[AuditEntry]:
    """Of the audit log, those about them, and those that may name them."""
    team = rows[0].pool.team_id
    keys, ids = {row.key for row in rows}, [str(row.pk) for row in rows]
    runs = [str(pk) for pk in runs_of(rows).values_list("pk", flat=True)]
    about = Q(model="worker") & (Q(item__in=ids) | Q(name__in=keys))
    naming = Q(model="run", item__in=runs) & (Q(kind__in=NAMING) | ~Q(why=""))
    listing = Q(model="run", item__in=list(map(str, listing_runs(team))), kind__in=WRITTEN)
    return AuditEntry.objects.filter(about | naming | listing, team=team).order_by("id")


def listing_runs(team: int | None) -> QuerySet[Run, int]:
    """Ids of the runs that are for certain workers, or leave some out."""
    found = Run.objects.filter(team=team).exclude(only=[], left_out=[])
    return found.order_by("pk").values_list("pk", flat=True)
