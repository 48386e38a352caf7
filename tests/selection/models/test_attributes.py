"""A worker's attributes: a flat object from every source; older rows break no page."""

import json

import pytest
from django.db.models import JSONField, Value
from django.test import Client

from selection import exports
from selection.models import ApiToken, Worker
from selection.runs.roster import quotas
from tests.pages import admin_url, confirm, text_of, upload
from tests.worlds import crowd, make_pool, make_run, play

pytestmark = pytest.mark.django_db
BAD = [
    "1",
    '"x"',
    "[1, 2]",
    "null",
    "[]",
    "true",
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": 1e999}',
    '{"a": null}',
    '{"a": [1]}',
    '{"a": {"b": 1}}',
    '{"a": "\\u0000"}',
    '{"a": "\\ud800"}',
    '{"a": ' + "9" * 5000 + "}",
    "[" * 100_000,
    "no JSON",
]
GOOD = {"language": "Français", "age": 30, "share": 0.5, "native": True}
STORED = [1, "x", [1, 2], None, [], True, {"a": None}, {"a": [1]}, {"a": {"b": 1}}]


def send(client, pool, attributes):
    return client.post(
        admin_url("worker_add"), {"pool": pool.pk, "key": "ada", "attributes": attributes}
    )


@pytest.mark.any_database
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[:20])
def test_form_refuses_attributes_that_are_not_a_flat_object(requester, bad):
    pool = make_pool(2)
    page = send(requester, pool, bad)
    errors = page.context["adminform"].form.errors
    assert list(errors) == ["attributes"]
    assert "attributes" in str(errors["attributes"][0]).casefold()
    assert len(errors["attributes"]) == 1
    assert pool.workers.count() == 2


@pytest.mark.parametrize(("given", "stored"), [("", {}), (" ", {}), (json.dumps(GOOD), GOOD)])
def test_the_form_takes_a_flat_object_and_nothing(requester, given, stored):
    pool = make_pool(2)
    assert send(requester, pool, given).status_code == 302
    assert Worker.objects.get(key="ada").attributes == stored


@pytest.mark.any_database
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[:20])
def test_the_api_refuses_it_wherever_attributes_are_sent(token, bad):
    run = make_run(start=False, enrolling=True)
    api = Client(headers={"authorization": f"Bearer {token}"})
    worker = f'{{"worker": "ada", "attributes": {bad}}}'
    for method, address, body in (
        ("put", f"/api/pools/{run.pool_id}/workers", f'{{"workers": [{worker}]}}'),
        ("patch", f"/api/pools/{run.pool_id}/workers/w1", f'{{"attributes": {bad}}}'),
        ("post", f"/api/runs/{run.pk}/workers", worker),
    ):
        answer = getattr(api, method)(address, body, content_type="application/json")
        if answer.status_code == 200 and method == "put":
            assert answer.json()["refused"] == 1
            assert "ttributes" in answer.json()["rows"][0]["reason"]
        elif not (method == "patch" and bad == "null"):  # which leaves them as they are
            assert answer.status_code in (400, 409, 422), (method, answer.content)
            assert answer.json()["error"]
    assert not Worker.objects.filter(key="ada").exists()
    assert Worker.objects.get(pool=run.pool_id, key="w1").attributes == {}


def test_api_takes_the_attributes_it_returns(token):
    pool = make_pool(1)
    Worker.objects.update(attributes=GOOD)
    api = Client(headers={"authorization": f"Bearer {token}"})
    address = f"/api/pools/{pool.pk}/workers"
    (given,) = api.get(address).json()
    answer = api.put(address, {"workers": [given]}, content_type="application/json").json()
    assert answer["unchanged"] == 1
    assert given["attributes"] == GOOD


@pytest.mark.parametrize("bad", BAD[:8], ids=lambda bad: bad[:20])
def test_an_import_keeps_every_value_as_a_text(requester, bad):
    pool = make_pool(0)
    line = f'{{"worker": "ada", "attributes": {bad}}}'
    page = upload(requester, admin_url("pool_import", pool.pk), line)
    assert page.status_code == 200
    confirm(requester, page)
    for worker in pool.workers.all():
        assert all(isinstance(value, str) for value in worker.attributes.values())


def pages(run):
    candidate = run.candidates.first().pk
    yield from (admin_url(name, run.pk) for name in ("run_page", "run_live", "run_report"))
    yield from (admin_url(f"run_worker{end}", run.pk, candidate) for end in ("", "_why"))
    yield from (admin_url("run_export", run.pk, name) for name in exports.FORMATS)
    yield admin_url("run_change", run.pk)


@pytest.mark.slow
def test_rows_from_before_break_no_page_and_no_export(requester):
    run = play(make_run(n=len(STORED), epsilon=0.3), crowd(1, good=2))
    before = {address: requester.get(address).status_code for address in pages(run)}
    assert list(before.values()).count(200) > 20
    for worker, bad in zip(run.pool.workers.order_by("pk"), STORED, strict=True):
        value = Value(bad, JSONField())
        Worker.objects.filter(pk=worker.pk).update(attributes=value)
    assert all(isinstance(one.attributes, dict) for one in Worker.objects.all())
    assert set(quotas.count_attribute_values(run.pool)) == {"a"}
    for address, status in before.items():
        response = requester.get(address)
        assert response.status_code == status, address
        assert b"".join(response) if status == 200 else True
    for worker in run.pool.workers.all():
        assert requester.get(admin_url("worker_change", worker.pk)).status_code == 200
    assert "w1" in text_of(requester.get(admin_url("worker_changelist")))
    api = Client(headers={"authorization": f"Bearer {ApiToken.issue('robot')}"})
    assert api.get(f"/api/pools/{run.pool_id}/workers").status_code == 200
