"""Identity of workers: an id is one person in all pools of a team, and may be named in texts."""

import re
import unicodedata
from collections.abc import Collection, Iterable

from django.db.models import Q, QuerySet

from selection.models import AuditEntry, Event, Run, Team, Worker
from selection.runs.roster.model_checks import LEFT_OUT

# Kinds of events that name workers; in other kinds a short id would match by chance.
NAMING = {"withdraw", "take back", "leave", "absent", "screened", "regrade", "by hand", "link"}
NAMING |= {"recount", Run.REPLACED, "pause", "unreadable"}
WRITTEN = {"added", "changed", "deleted"}  # kinds of entries with a run's settings


def same_person(key: str, team: Team | int) -> list[Worker]:
    """Find all rows with this id in the team's pools; empty if there are none."""
    rows = Worker.objects.filter(key=key, pool__team=team)
    return list(rows.select_related("pool").order_by("pk"))


def same_people(people: Collection[tuple[str, int]]) -> list[list[Worker]]:
    """Find the rows of many people, by plain id and team, without people that have none."""
    keys, teams = [key for key, _ in people], {team for _, team in people}
    rows = Worker.objects.filter(key__in=keys, pool__team__in=teams)
    groups: dict[tuple[str, int | None], list[Worker]] = {}
    for row in rows.select_related("pool").order_by("pk"):
        groups.setdefault((row.key, row.pool.team_id), []).append(row)
    return [groups[person] for person in people if person in groups]


def runs_of(rows: Iterable[Worker]) -> QuerySet[Run]:
    return Run.objects.filter(candidates__worker__in=list(rows)).distinct().order_by("pk")


def mention_pattern(names: Iterable[str]) -> re.Pattern[str]:
    given = list(filter(None, names))
    forms = {unicodedata.normalize(form, name) for name in given for form in ("NFC", "NFD")}
    spellings = sorted(forms.union(given), key=len, reverse=True)
    return re.compile(rf"(?<![\w@/-])(?:{'|'.join(map(re.escape, spellings))})(?![\w@/-])")


def events_of(rows: list[Worker]) -> QuerySet[Event]:
    """Find events that may name the worker in text or reason."""
    naming = Q(run__in=runs_of(rows)) & (Q(kind__in=NAMING) | ~Q(why=""))
    listing = Q(run__in=listing_runs(rows[0].pool.team_id), what__startswith=LEFT_OUT)
    return Event.objects.filter(naming | listing).order_by("pk")


def entries_of(rows: list[Worker]) -> QuerySet[AuditEntry]:
    """Find audit entries about the worker, and those that may name them."""
    team = rows[0].pool.team_id
    keys, ids = {row.key for row in rows}, [str(row.pk) for row in rows]
    runs = [str(pk) for pk in runs_of(rows).values_list("pk", flat=True)]
    about = Q(model="worker") & (Q(item__in=ids) | Q(name__in=keys))
    naming = Q(model="run", item__in=runs) & (Q(kind__in=NAMING) | ~Q(why=""))
    listing = Q(model="run", item__in=list(map(str, listing_runs(team))))
    listing &= Q(kind__in=WRITTEN) | Q(after__said__startswith=LEFT_OUT)
    return AuditEntry.objects.filter(about | naming | listing, team=team).order_by("id")


def listing_runs(team: int | None) -> QuerySet[Run, int]:
    runs = Run.objects.filter(team=team).exclude(only=[], left_out=[])
    return runs.order_by("pk").values_list("pk", flat=True)
