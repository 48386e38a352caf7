"""Workers' links and the join link, revoked and replaced."""

import pytest
from django.test import Client

from selection import engine
from selection.models import Answer, ApiToken
from selection.runs import lifecycle
from selection.worker import links
from tests.pages import admin_url, lines_of, text_of
from tests.worlds import make_questions, make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run():
    run = make_run(enrolling=True, algorithm="credible")
    engine.advance(run.pk)
    return run


def link(candidate) -> str:
    candidate.refresh_from_db()
    return f"/work/{links.worker_token(candidate.pk, candidate.link_version)}/"


def status(address: str) -> int:
    return Client().get(address).status_code


def test_a_replaced_link_opens_nothing_and_the_new_one_does(run, requester):
    one, other = run.candidates.order_by("pk")[:2]
    old, others = link(one), link(other)
    url = admin_url("run_worker_change", run.pk, one.pk)
    assert "stops working at once" in text_of(requester.get(url))
    card = requester.post(url, {"do": "link", "why": "It was posted in a forum."}, follow=True)
    assert link(one) in card.content.decode()
    assert old not in card.content.decode()
    assert [status(each) for each in (old, link(one), others)] == [404, 200, 200]
    event = run.events.first()
    assert (event.kind, event.who, event.why) == ("link", "requester", "It was posted in a forum.")


def test_replaced_link_answers_no_question_and_removes_no_worker(run):
    assignment = open_of(run)[0]
    old = link(assignment.candidate)
    run.candidates.filter(pk=assignment.candidate_id).update(link_version=1)
    sent = Client().post(old, {"assignment": assignment.pk, "response": "yes"})
    assert sent.status_code == 404
    assert Client().post(old, {"leave": "yes"}).status_code == 404
    assert not Answer.objects.exists()
    assignment.candidate.refresh_from_db()
    assert assignment.candidate.gone == ""


def test_a_link_is_replaced_in_all_skills(requester):
    from_skills = {"algorithm": "multi-sar", "budget": 60, "epsilon": 0.1}
    run = make_run(n=4, start=False, k=1, **from_skills)
    run.further.create(question_set=make_questions(20), number=1, k=1)
    run.refresh_from_db()
    lifecycle.start_run(run)
    own = run.candidates.filter(worker=run.pool.workers.first()).order_by("skill")
    before = [link(one) for one in own]
    url = admin_url("run_worker_change", run.pk, own[0].pk)
    requester.post(url, {"do": "link"})
    assert len(before) == 2
    assert [status(one) for one in before] == [404, 404]


def test_links_of_a_run_and_its_join_link_are_replaced_at_once(run, requester):
    old = [link(one) for one in run.candidates.all()]
    join = links.join_address(run)
    requester.post(admin_url("run_do_change", run.pk), {"do": "links", "why": "A leak."})
    assert {status(one) for one in old} == {404}
    assert status(join[join.index("/join/") :]) == 404
    run.refresh_from_db()
    new = links.join_address(run)
    assert status(new[new.index("/join/") :]) == 200
    given = lines_of(requester.get(admin_url("run_links_csv", run.pk)))[1:]
    assert all(status(line[line.index("/work/") :]) == 200 for line in given)


def test_returning_worker_is_led_to_the_new_link(run, requester):
    join = links.join_address(run)
    client = Client()
    first = client.get(join[join.index("/join/") :], {"worker": "w0"})
    candidate = run.candidates.get(worker__key="w0")
    requester.post(admin_url("run_worker_change", run.pk, candidate.pk), {"do": "link"})
    again = client.get(join[join.index("/join/") :], {"worker": "w0"})
    assert (status(first.url), status(again.url)) == (404, 200)


def test_a_program_replaces_a_link(run):
    api = Client(headers={"authorization": f"Bearer {ApiToken.issue('robot')}"})
    old = link(run.candidates.get(worker__key="w1"))
    path = f"/api/runs/{run.pk}/workers/w1/link"
    given = api.post(path, {"reason": "Lost."}, content_type="application/json").json()["link"]
    assert (status(old), status(given[given.index("/work/") :])) == (404, 200)
    assert run.events.first().who == "token robot"


def test_ended_run_has_no_link_to_replace(run, requester):
    candidate = run.candidates.first()
    lifecycle.stop_run(run)
    url = admin_url("run_worker_change", run.pk, candidate.pk)
    assert "Replace the link" not in text_of(requester.get(url))
    refused = requester.post(url, {"do": "link"}, follow=True)
    assert "has ended" in text_of(refused)


def test_forged_and_later_links_lead_nowhere(run):
    candidate = run.candidates.first()
    assert links.candidate_id(links.worker_token(candidate.pk)) == candidate.pk
    for bad in (links.worker_token(candidate.pk, 1), "1", f"{candidate.pk}-0.x"):
        assert links.candidate_id(bad) is None
