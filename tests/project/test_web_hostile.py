"""No request breaks the requester's pages: unreadable ones are refused."""

import itertools
import re
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.core.signals import got_request_exception
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, reverse

from tests.pages import admin_url
from tests.selection.accounts.access.test_every_address import body
from tests.selection.accounts.access.world import Camp, Role, camp, member
from tests.worlds import make_run

pytestmark = pytest.mark.django_db

HUGE = "9" * 5000
VALUES = [
    "",
    "x",
    "-1",
    "0",
    "1",
    str(2**31),
    str(2**63),
    HUGE,
    "1.5",
    "1e400",
    "nan",
    "%00",
    "a%00b",
    "%ED%A0%80",  # a lone surrogate
    "%F0%9F%92%A9",
    "%FF%FE",
    "[",
    "(?P<",
    "%27%22%3Cscript%3E",
    "0000-00-00",
    "9999-99-99",
    "..%2F..%2F",
    "%D9%A3",  # a digit of another script
    "1&%s=2",
]
NAMES = [
    "q", "p", "o", "e", "all", "_popup", "_to_field", "_changelist_filters", "page", "sort",
    "attribute", "verdict", "presence", "skill", "run", "with", "accept", "instead", "pool",
    "question_set", "k", "epsilon", "delta", "budget", "algorithm", "option_each", "term", "s",
    "app_label", "model_name", "field_name", "csv", "flagged", "problems", "outside", "next",
    "name",
]  # fmt: skip
LOOKUPS = [
    "pk", "id", "id__in", "id__isnull", "created__year", "created__month", "created__gte",
    "created__date", "name__regex", "name__iregex", "name__range", "key__regex",
    "pool__id__exact", "pool__name__regex", "run__id__exact", "status__exact", "attributes__x",
    "question_set__id__exact", "retired__isempty", "right__exact", "at__year", "at__hour__gt",
    "assignment__due__year", "digest__startswith", "password__startswith", "nothing__at_all",
    "user_permissions__id__exact", "is_staff__exact", "groups__id__exact",
]  # fmt: skip


def patterns(found=None) -> Iterator[URLPattern]:
    """Every address of the admin that has a name."""
    for one in admin.site.get_urls() if found is None else found:
        if isinstance(one, URLResolver):
            yield from patterns(one.url_patterns)
        elif one.name:
            yield one


@pytest.fixture
def okapis(db: None) -> Camp:
    return camp("okapi")


@pytest.fixture
def zebras(okapis: Camp) -> Camp:
    return camp("zebra")


def world(of: Camp) -> dict[str, list[object]]:
    """Values of the parts of an address, by name of the part: there, and not there."""
    return {
        "pk": [of.run.pk, of.draft.pk, 2**63, of.forecast.pk],
        "object_id": [of.run.pk, of.draft.pk, "export", HUGE, 2**63, "_00"],
        "id": [1, "x", HUGE],
        "candidate": [of.run.candidates.first().pk, 2**63],
        "replay": [of.replay.pk, "00000000-0000-0000-0000-000000000000"],
        "upload": [of.upload.pk, "00000000-0000-0000-0000-000000000000"],
        "verb": ["start", "x"],
        "format": ["all-csv", "x"],
        "app_label": ["auth", "selection"],
        "content_type_id": [1, "x"],
    }


def addresses(of: Camp) -> list[str]:
    """Every page of the admin, with each of these in each place."""
    found, parts_of = [], world(of)
    for pattern in patterns():
        regex = re.compile(str(pattern.pattern)) if hasattr(pattern.pattern, "_regex") else None
        parts = list(pattern.pattern.converters) or sorted(regex.groupindex if regex else ())
        for values in itertools.product(*(parts_of[part] for part in parts)):
            with suppress(NoReverseMatch):  # a number where a forecast's id stands, or vice versa
                found.append(reverse(f"admin:{pattern.name}", args=values))
    return list(dict.fromkeys(found))


def spread(pairs: int, start: int) -> Iterator[str]:
    """So many queries of names and values, other ones for each start; all in the end."""
    for turn in range(start, start + pairs):
        yield f"{NAMES[turn % len(NAMES)]}={VALUES[turn % len(VALUES)]}"


def filters(start: int) -> Iterator[str]:
    for turn, lookup in enumerate(LOOKUPS, start):
        yield f"{lookup}={VALUES[turn % len(VALUES)]}"
        yield f"{lookup}={VALUES[(7 * turn + 3) % len(VALUES)]}"


def hostile(of: Camp) -> list[str]:
    found = []
    for turn, address in enumerate(addresses(of)):
        open_to_much = not any(one.isdigit() for one in address)
        queries = [*spread(12, 12 * turn)]
        if open_to_much:
            queries += [*spread(24, 31 * turn), *filters(turn)]
        found += [f"{address}?{query}" for query in ["x=1", *queries]]
    return found


def naming(them: Camp) -> list[str]:
    """Queries with ids of their objects, wherever an id is taken."""
    runs = ("run", "with", "instead", "accept", "pk", "id", "run__id__exact", "id__in")
    pools = ("pool", "pool__id__exact", "candidate__worker__pool__id__exact")
    sets = ("question_set", "question_set__id__exact")
    return [
        *(f"{name}={them.run.pk}" for name in runs),
        *(f"{name}={them.pool.pk}" for name in pools),
        *(f"{name}={them.question_set.pk}" for name in sets),
        *(f"team{more}={them.team.pk}" for more in ("", "__id__exact")),
        *(f"{name}={them.user.pk}" for name in ("user", "user__id__exact")),
        f"id={them.draft.pk}",
        f"upload={them.upload.pk}",
        f"webhook={them.delivery.webhook_id}",
        f"candidate={them.run.candidates.first().pk}",
        f"pool={them.pool.pk}&question_set={them.question_set.pk}&k=1&algorithm=lucb",
        f"app_label=selection&model_name=run&field_name=pool&pk={them.pool.pk}",
        f"_changelist_filters=pool__id__exact%3D{them.pool.pk}",
    ]


def broken(client: Client, asked: list[str]) -> list[tuple[str, str]]:
    """The addresses that lead to a server error, with the error."""
    client.raise_request_exception = False
    errors: list[str] = []

    def note(**signal: object) -> None:
        errors.append(repr(sys.exception())[:200])

    got_request_exception.connect(note)
    try:
        return [
            (address, errors[-1]) for address in asked if client.get(address).status_code >= 500
        ]
    finally:
        got_request_exception.disconnect(note)


def test_no_query_breaks_a_page_of_the_admin(requester, okapis, sample):
    asked = hostile(okapis)
    assert len(asked) > 2500
    assert broken(requester, asked[:: sample(7, 1)]) == []  # of each address at least one


def test_hostile_queries_of_a_viewer_break_no_page(client, okapis, sample):
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(viewer)
    ends = ["?pool=x", ""][: sample(1, 2)]
    assert broken(client, [f"{one}{end}" for one in addresses(okapis) for end in ends]) == []


def test_hostile_queries_show_nothing_of_another_team(client, okapis, zebras, sample):
    client.force_login(member(okapis.team, Role.OWNER))
    queries = naming(zebras)
    own = [
        f"{address}?{queries[(turn + step) % len(queries)]}"
        for turn, address in enumerate(addresses(okapis))
        for step in range(sample(1, len(queries)))
    ]
    theirs = [address for address in addresses(zebras) if any(map(str.isdigit, address))]
    client.raise_request_exception = False
    for address in own + theirs:
        response = client.get(address)
        assert response.status_code < 500, address
        assert "zebra" not in body(response), address


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("run_begin", "pool=x"),
        ("run_begin", "question_set=x"),
        ("question_add", "question_set=x"),
        ("worker_add", f"pool={HUGE}"),
        ("run_changelist", "created__year=0"),
        ("run_changelist", "name__regex=["),
        ("worker_changelist", "key__regex=(?P<"),
        ("answer_changelist", "run__id__exact=x"),
    ],
)
def test_an_address_that_was_found_to_break_a_page_does_so_no_more(requester, name, query):
    make_run()
    assert broken(requester, [f"{admin_url(name)}?{query}"]) == []


def test_links_to_a_part_of_a_list_still_lead_there(requester):
    run = make_run()
    other = make_run()
    workers = requester.get(admin_url("worker_changelist"), {"pool__id__exact": run.pool_id})
    assert workers.context["cl"].result_count == 6
    ended = requester.get(admin_url("run_changelist"), {"state": "ended"})
    assert ended.context["cl"].result_count == 0
    filled = requester.get(admin_url("worker_add"), {"pool": other.pool_id})
    assert filled.context["adminform"].form.initial["pool"] == str(other.pool_id)
