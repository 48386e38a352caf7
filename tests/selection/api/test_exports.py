"""Exports of runs by the API."""

import pytest
from django.test import Client

from selection import exports
from selection.api import api
from selection.exports import FORMATS
from tests.worlds import kept_run, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(token: str) -> Client:
    return Client(headers={"authorization": f"Bearer {token}"})


def test_export_formats_equal_the_files_of_the_page(client):
    run = kept_run(price="0.10", currency="$")
    for name, each in FORMATS.items():
        response = client.get(f"/api/runs/{run.pk}/export", {"format": name})
        assert response.status_code == 200
        assert response["Content-Type"] == each.media
        found = response.getvalue()
        if each.ending not in ("xlsx", "html"):  # these contain the time of their creation
            assert found == b"".join(exports.make_file(run, name).pieces)


def test_the_name_on_the_platform_and_the_pay_can_be_said(client):
    run = kept_run()
    address = f"/api/runs/{run.pk}/export"
    said = client.get(address, {"format": "mturk", "named": "32"}).getvalue()
    assert b"UPDATE-32" in said
    paid = client.get(address, {"format": "prolific-bonus", "pay": "0.5"})
    assert paid.getvalue().startswith(b"w0,")


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        ({"format": "pdf"}, 422, "There is no format"),
        ({"format": "prolific-bonus"}, 422, "say the pay"),
        ({"format": "payment", "pay": "-1"}, 422, "pay"),
        ({"format": "payment", "pay": "nan"}, 422, "pay"),
    ],
)
def test_impossible_export_is_refused_in_a_sentence(client, said, status, words):
    response = client.get(f"/api/runs/{make_run().pk}/export", said)
    assert response.status_code == status
    assert words in response.json()["error"]


def test_a_draft_is_in_no_state_to_be_exported(client):
    draft = make_run(start=False)
    response = client.get(f"/api/runs/{draft.pk}/export", {"format": "csv"})
    assert response.status_code == 409
    assert "before the run" in response.json()["error"]


def test_the_reference_names_every_format():
    operation = api.get_openapi_schema()["paths"]["/api/runs/{run_id}/export"]["get"]
    wanted = next(one for one in operation["parameters"] if one["name"] == "format")
    assert wanted["schema"]["enum"] == list(FORMATS)
    assert set(operation["responses"][200]["content"]) == {
        each.media.partition(";")[0] for each in FORMATS.values()
    }


def test_a_table_has_decimal_commas_if_asked(client):
    run = kept_run()
    url = f"/api/runs/{run.pk}/export"
    german = {"Accept-Language": "de"}
    usual = client.get(url, {"format": "csv"}, headers=german).getvalue()
    asked = client.get(url, {"format": "csv", "csv": "semicolon"}).getvalue()
    assert usual.startswith(b"\xef\xbb\xbfrank,worker,")
    assert asked.startswith(b"\xef\xbb\xbfrank;worker;")
    assert asked.decode().splitlines()[1].count(";") == usual.decode().splitlines()[1].count(",")
