"""Pools and their workers by the API."""

import pytest

from selection.models import AuditEntry, Pool, Worker
from tests.worlds import make_pool, make_run

pytestmark = pytest.mark.django_db


def workers(*keys: str) -> dict[str, object]:
    return {"workers": [{"worker": key} for key in keys]}


def test_a_pool_is_made_shown_renamed_and_deleted(manager):
    made = manager.post("pools", {"name": "Spring"})
    assert made.status_code == 201
    pool = made.json()
    assert (pool["name"], pool["workers"]) == ("Spring", 0)
    at = f"pools/{pool['id']}"
    assert manager.get(at).json() == pool
    assert manager.patch(at, {"name": "Summer"}).json()["name"] == "Summer"
    assert manager.delete(at).status_code == 204
    assert manager.get(at).status_code == 404
    assert not Pool.objects.exists()


@pytest.mark.parametrize("end", ["\r\n", "\n", "\u2028", "\u2029", "\x85", "\x1b", "\t"])
def test_a_name_is_one_line(manager, end):
    at = f"pools/{manager.post('pools', {'name': f'Spring{end}crowd{end}'}).json()['id']}"
    assert manager.get(at).json()["name"].split() == ["Spring", "crowd"]
    assert Pool.objects.get().name.isprintable()
    assert manager.patch(at, {"name": f"A{end}B"}).json()["name"].isprintable()
    assert manager.post("pools", {"name": end}).status_code == 422
    manager.put(f"{at}/workers", {"workers": [{"worker": "w", "name": f"A{end}B"}]})
    assert Worker.objects.get().name.isprintable()


def test_a_name_is_unique_in_its_team_and_no_empty_text(manager):
    manager.post("pools", {"name": "Spring"})
    again = manager.post("pools", {"name": "Spring"})
    assert (again.status_code, again.json()) == (
        422,
        {"error": "Name: This name is already in use."},
    )
    assert manager.post("pools", {"name": " "}).status_code == 422
    assert Pool.objects.count() == 1


def test_pools_are_found_by_name(manager):
    for name in ("Spring", "Summer", "Spring 2"):
        manager.post("pools", {"name": name})
    names = [pool["name"] for pool in manager.get("pools", search="spring").json()]
    assert names == ["Spring", "Spring 2"]
    assert [pool["name"] for pool in manager.get("pools", name="Spring").json()] == ["Spring"]


def test_a_pool_that_a_run_needs_stays(manager):
    run = make_run(n=4, start=False)
    refused = manager.delete(f"pools/{run.pool_id}")
    assert refused.status_code == 409
    assert refused.json()["error"] == f"“{run.pool}” is needed by the run “{run}”, and stays."


def test_reply_states_the_result_of_each_row(manager):
    pool = Pool.objects.create(name="Spring")
    at = f"pools/{pool.pk}/workers"
    manager.put(at, {"workers": [{"worker": "a", "name": "Ada"}, {"worker": "b"}]})
    rows = [
        {"worker": "a", "name": "Ada"},
        {"worker": "b", "attributes": {"language": "English"}},
        {"worker": "c"},
        {"worker": ""},
        {"worker": "c", "name": "again"},
        {"worker": "x" * 201},
    ]
    reply = manager.put(at, {"workers": rows}).json()
    found = [row["result"] for row in reply["rows"]]
    assert found == ["unchanged", "changed", "added", "refused", "refused", "refused"]
    assert [row["row"] for row in reply["rows"]] == [1, 2, 3, 4, 5, 6]
    assert reply["rows"][4]["reason"] == "Row 3 has the same id."
    assert (reply["added"], reply["refused"]) == (1, 3)
    assert dict(pool.workers.values_list("key", "name")) == {"a": "Ada", "b": "", "c": ""}
    assert pool.workers.get(key="b").attributes == {"language": "English"}


def test_invalid_text_is_refused_row_by_row(manager):
    pool = Pool.objects.create(name="Spring")
    body = (
        r'{"workers": [{"worker": "\ud800"}, {"worker": "a", "name": "\u0000"}, {"worker": "b"}]}'
    )
    reply = manager.client.put(f"/api/pools/{pool.pk}/workers", body, "application/json").json()
    assert [row["result"] for row in reply["rows"]] == ["refused", "refused", "added"]
    assert list(pool.workers.values_list("key", flat=True)) == ["b"]


def test_ten_thousand_workers_come_in_one_call_and_no_more(manager):
    pool = Pool.objects.create(name="Spring")
    at, keys = f"pools/{pool.pk}/workers", [f"w{i}" for i in range(10_001)]
    assert manager.put(at, workers(*keys)).status_code == 422
    assert manager.put(at, workers(*keys[1:])).json()["added"] == 10_000
    assert pool.workers.count() == 10_000
    entry = AuditEntry.objects.get(kind="import")
    assert (entry.name, entry.after) == ("Spring", {"workers": 10_000})


def test_worker_is_shown_changed_and_removed_with_any_characters_in_the_id(manager):
    pool = Pool.objects.create(name="Spring")
    manager.put(f"pools/{pool.pk}/workers", workers("a/b?c d"))
    at = f"pools/{pool.pk}/workers/a/b%3Fc%20d"
    assert manager.get(at).json() == {"worker": "a/b?c d", "name": "", "attributes": {}}
    changed = manager.patch(at, {"attributes": {"language": "English"}}).json()
    assert (changed["name"], changed["attributes"]) == ("", {"language": "English"})
    assert manager.patch(at, {"name": "Ada"}).json()["attributes"] == {"language": "English"}
    assert manager.delete(at).status_code == 204
    assert not Worker.objects.exists()


def test_worker_of_a_run_is_not_deleted(manager):
    run = make_run(n=4)
    refused = manager.delete(f"pools/{run.pool_id}/workers/w1")
    assert refused.status_code == 409
    assert f"“w1” is needed by the run “{run}”" in refused.json()["error"]


# -- pages


def read_all(program, path: str, **query: object) -> list[list[dict]]:
    """Return the rows of all pages, following the links."""
    pages, reply = [], program.get(path, **query)
    while True:
        pages.append(reply.json())
        link = reply.headers.get("Link")
        if link is None:
            return pages
        address, rel = link.split("; ")
        assert rel == 'rel="next"'
        reply = program.client.get(address.strip("<>"))


def test_list_is_read_page_by_page_without_missing_a_row(manager):
    pool = make_pool(25)
    pages = read_all(manager, f"pools/{pool.pk}/workers", limit=10)
    assert [len(page) for page in pages] == [10, 10, 5]
    assert [row["worker"] for page in pages for row in page] == [f"w{i}" for i in range(25)]
    searched = read_all(manager, f"pools/{pool.pk}/workers", limit=4, search="W2")
    assert [row["worker"] for page in searched for row in page] == [
        "w2", "w20", "w21", "w22", "w23", "w24",
    ]  # fmt: skip


def test_a_row_that_went_between_two_pages_shifts_nothing(manager):
    pool = make_pool(6)
    first = manager.get(f"pools/{pool.pk}/workers", limit=3)
    pool.workers.filter(key__in=["w0", "w2"]).delete()
    rest = manager.client.get(first.headers["Link"].split(">")[0][1:]).json()
    assert [row["worker"] for row in rest] == ["w3", "w4", "w5"]


@pytest.mark.parametrize("query", [{"cursor": "x"}, {"limit": 0}, {"limit": 1001}])
def test_invalid_page_is_refused(manager, query):
    assert manager.get("pools", **query).status_code == 422
