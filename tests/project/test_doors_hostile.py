"""Nothing that is sent to the requester's pages breaks them: what cannot be read is refused."""

import functools
import itertools
import re
import sys
from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.core.signals import got_request_exception
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from selection import engine
from selection.intake import uploads
from selection.models import Answer
from tests.pages import admin_url
from tests.worlds import crowd, make_run, open_of, play

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
def world() -> dict[str, list[object]]:
    """What the parts of an address may be, by name of the part: there, and not there."""
    going = make_run()
    draft = make_run(start=False)
    play(going, crowd(1, 2), most=2)
    waiting = uploads.create("workers", going.pool, "a.csv", b"worker\nx")
    return {
        "pk": [going.pk, draft.pk, 2**63],
        "object_id": [going.pk, draft.pk, "export", HUGE, 2**63, "_00"],
        "id": [1, "x", HUGE],
        "candidate": [going.candidates.first().pk, 2**63],
        "upload": [waiting.pk, "00000000-0000-0000-0000-000000000000"],
        "verb": ["start", "x"],
        "format": ["all-csv", "x"],
        "app_label": ["auth", "selection"],
        "content_type_id": [1, "x"],
    }


def addresses(world: dict[str, list[object]]) -> Iterator[str]:
    for pattern in patterns():
        regex = re.compile(str(pattern.pattern)) if hasattr(pattern.pattern, "_regex") else None
        parts = list(pattern.pattern.converters) or sorted(regex.groupindex if regex else ())
        for values in itertools.product(*(world[part] for part in parts)):
            yield reverse(f"admin:{pattern.name}", args=values)


def spread(pairs: int, start: int) -> Iterator[str]:
    """So many queries of names and values, other ones for each start; all in the end."""
    for turn in range(start, start + pairs):
        yield f"{NAMES[turn % len(NAMES)]}={VALUES[turn % len(VALUES)]}"


def filters(start: int) -> Iterator[str]:
    for turn, lookup in enumerate(LOOKUPS, start):
        yield f"{lookup}={VALUES[turn % len(VALUES)]}"
        yield f"{lookup}={VALUES[(7 * turn + 3) % len(VALUES)]}"


def hostile(world: dict[str, list[object]]) -> list[str]:
    found = []
    for turn, address in enumerate(dict.fromkeys(addresses(world))):
        open_to_much = not any(one.isdigit() for one in address)
        queries = [*spread(12, 12 * turn)]
        if open_to_much:
            queries += [*spread(24, 31 * turn), *filters(turn)]
        found += [f"{address}?{query}" for query in ["x=1", *queries]]
    return found


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


def test_no_query_breaks_a_page_of_the_admin(requester, world):
    asked = hostile(world)
    assert len(asked) > 2500
    assert broken(requester, asked) == []


def test_nor_where_somebody_may_only_look(client, world):
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client.force_login(viewer)
    asked = [
        url for address in dict.fromkeys(addresses(world)) for url in (address, f"{address}?pool=x")
    ]
    assert broken(client, asked) == []


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("run_add", "pool=x"),
        ("run_add", "question_set=x"),
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
    ended = requester.get(admin_url("run_changelist"), {"status__exact": "ended"})
    assert ended.context["cl"].result_count == 0
    filled = requester.get(admin_url("worker_add"), {"pool": other.pool_id})
    assert filled.context["adminform"].form.initial["pool"] == str(other.pool_id)


# -- what is no text


def test_nul_in_an_address_is_refused_everywhere(requester, token):
    api = {"authorization": f"Bearer {token}"}
    for address in ("/admin/?q=%00", "/admin/%00/", "/work/%00/", "/join/x/?worker=%00"):
        assert requester.get(address).status_code == 400
    run = make_run()
    answer = requester.get(f"/api/runs/{run.pk}/assignments?worker=%00", headers=api)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])


@pytest.mark.parametrize("bad", [r"\ud800", r"yes\udfff", r"\u0000", r"\uDC00\uD800"])
def test_a_response_that_is_no_text_is_refused_by_itself(client, token, bad):
    run = make_run()
    engine.advance(run.pk)
    first, second = open_of(run)[:2]
    send = functools.partial(
        client.post, content_type="application/json", headers={"authorization": f"Bearer {token}"}
    )
    alone = send(f"/api/assignments/{first.pk}/answer", f'{{"response": "{bad}"}}')
    assert alone.status_code == 422
    assert "readable text" in alone.json()["error"]
    rows = [
        (first.candidate.worker, first.question.key, bad),
        (second.candidate.worker, second.question.key, "yes"),
        (bad, bad, "yes"),
    ]
    rows = [
        f'{{"worker": "{worker}", "question": "{question}", "response": "{said}"}}'
        for worker, question, said in rows
    ]
    batch = send(f"/api/runs/{run.pk}/answers", f'{{"answers": [{", ".join(rows)}]}}')
    assert batch.status_code == 200
    assert batch.json()["now"] == 1
    assert [problem["row"] for problem in batch.json()["problems"]] == [1, 3]


def test_a_response_with_a_character_beyond_the_first_plane_is_taken(client, token):
    run = make_run()
    engine.advance(run.pk)
    answer = client.post(
        f"/api/assignments/{open_of(run)[0].pk}/answer",
        r'{"response": "\ud83d\udca9"}',
        content_type="application/json",
        headers={"authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 201
    assert Answer.objects.get().response == "\N{PILE OF POO}"


@pytest.mark.parametrize(
    "body",
    [b"{", b'{"response": "\xed\xa0\x80"}', '{"response": "yes"}'.encode("utf-16"), b"[" * 50_000],
    ids=["cut", "surrogate bytes", "another encoding", "deep"],
)
def test_a_body_that_cannot_be_read_is_said_to_be_so(client, token, body):
    answer = client.post(
        "/api/assignments/1/answer",
        body,
        content_type="application/json",
        headers={"authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 400
    assert answer.json() == {"error": "Cannot parse request body."}


ODD = [
    "null", "true", "-1", "0", "1e400", "NaN", "Infinity", str(2**63), str(2**31), "9" * 4000, '""',
    r'"\u0000"', r'"\ud800"', '"9999-99-99"', '"0001-01-01T00:00:00Z"', "[]", "{}", '"x"',
]  # fmt: skip
FIELDS = [
    "name", "budget", "slots", "slots_per_worker", "minutes", "hours_to_come", "epsilon",
    "enrol_until", "enrol_most", "enrolling", "concluded", "why", "preview",
]  # fmt: skip


def test_no_value_breaks_the_api(client, token):
    run = make_run(enrolling=True)
    engine.advance(run.pk)
    slip = open_of(run)[0]
    worker = slip.candidate.worker.key
    client.raise_request_exception = False
    bodies = [
        ("patch", f"/api/runs/{run.pk}", f'{{"{field}": {odd}}}') for field in FIELDS for odd in ODD
    ]
    for odd in ODD:
        path = f"/api/runs/{run.pk}/workers"
        bodies += [
            ("post", f"/api/assignments/{slip.pk}/answer", f'{{"response": {odd}}}'),
            ("post", path, f'{{"worker": {odd}}}'),
            ("post", path, f'{{"worker": "n", "attributes": {{"a": {odd}}}, "name": {odd}}}'),
            ("post", path, f'{{"worker": "m", "attributes": {odd}}}'),
            ("post", f"{path}/{worker}/verdict", f'{{"verdict": "accepted", "why": {odd}}}'),
            ("post", f"{path}/{worker}/withdraw", f'{{"why": {odd}}}'),
        ]
    for method, path, body in bodies:
        answer = getattr(client, method)(
            path,
            body,
            content_type="application/json",
            headers={"authorization": f"Bearer {token}"},
        )
        assert answer.status_code < 500, (path, body)


@pytest.mark.parametrize("value", [*VALUES[:8], "%D9%A3"])
def test_no_number_in_a_path_breaks_the_api(client, token, value):
    client.raise_request_exception = False
    for path in ("runs/{}", "runs/{}/assignments", "runs/{}/standings", "runs/{}/workers"):
        answer = client.get(
            f"/api/{path.format(value)}", headers={"authorization": f"Bearer {token}"}
        )
        assert answer.status_code in (404, 422)
    asked = f"/api/runs/1/assignments?after={value}&limit={value}"
    answer = client.get(asked, headers={"authorization": f"Bearer {token}"})
    assert answer.status_code in (404, 422)
