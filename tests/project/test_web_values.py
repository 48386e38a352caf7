"""No odd value breaks the API or is taken for text: it is refused by itself, in a sentence."""

import functools

import pytest

from selection import engine
from selection.models import Answer
from tests.worlds import make_run, open_of

from .test_web_hostile import VALUES

pytestmark = pytest.mark.django_db


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
    assert batch.json()["recorded_answers"] == 1
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
    "enrol_until", "enrol_most", "enrolling", "archived", "why", "preview",
]  # fmt: skip


def test_no_value_breaks_the_api(client, token, sample):
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
            ("post", f"{path}/{worker}/verdict", f'{{"verdict": "accepted", "reason": {odd}}}'),
            ("post", f"{path}/{worker}/withdraw", f'{{"reason": {odd}}}'),
        ]
    for method, path, content in bodies[:: sample(5, 1)]:
        answer = getattr(client, method)(
            path,
            content,
            content_type="application/json",
            headers={"authorization": f"Bearer {token}"},
        )
        assert answer.status_code < 500, (path, content)


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
