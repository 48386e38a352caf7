"""Temporary links: they let a worker join and open their page, until they expire."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from selection import engine
from selection.errors import Conflict, Refused
from selection.models import Answer, Run
from selection.runs import lifecycle
from selection.runs.roster import roster_opening
from selection.runs.roster.enrolment import EnrolmentSource, enrol_worker
from selection.worker import link_rotation, links
from selection.worker.temporary_links import make_temporary_links
from tests.pages import admin_url, lines_of, text_of
from tests.worlds import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return make_run(n=3, enrolling=True)


def make(run: Run, *workers: str, hours: float = 1) -> list[str]:
    until = timezone.now() + timedelta(hours=hours)
    made = make_temporary_links(run, workers, until, "ada")
    return [link.removeprefix("http://127.0.0.1:8000") for link in made.values()]


@pytest.fixture
def later(monkeypatch):
    def move(hours: float) -> None:
        moment = timezone.now() + timedelta(hours=hours)
        monkeypatch.setattr(links.db_clock, "database_now", lambda: moment)

    return move


def test_a_link_lets_its_worker_join_and_answer_on_their_page(run):
    (link,) = make(run, "anna")
    assert not run.candidates.filter(worker__key="anna").exists()
    own = Client().get(link).url
    candidate = run.candidates.get(worker__key="anna")
    engine.advance(run.pk)
    question = Client().post(own, {"start": "yes"}, follow=True).context["page"].question
    Client().post(own, {"assignment": question.assignment, "response": "yes"})
    assert Answer.objects.get().assignment.candidate == candidate
    assert Client().get(link).url == own


def test_expired_link_opens_neither_itself_nor_its_page(run, later):
    (link,) = make(run, "w1", hours=2)
    engine.advance(run.pk)
    own = Client().get(link).url
    question = Client().post(own, {"start": "yes"}, follow=True).context["page"].question
    later(3)
    for response in (
        Client().get(link),
        Client().get(own),
        Client().post(own, {"assignment": question.assignment, "response": "yes"}),
    ):
        assert response.status_code == 410
        assert "This link has expired" in response.content.decode()
    assert not Answer.objects.exists()
    lasting = links.worker_token(run.candidates.get(worker__key="w1").pk)
    assert Client().get(f"/work/{lasting}/").status_code == 200


def test_a_worker_of_a_platform_keeps_their_task(run):
    """They are paid by the platform and the task that they came with."""
    enrol_worker(run, "anna", source=EnrolmentSource("mturk", "A7"))
    Run.objects.update(platform="mturk")
    links_made = make(run, "anna", "new")
    for link in links_made:
        Client().get(link)
    rows = run.candidates.filter(worker__key__in=["anna", "new"])
    assert set(rows.values_list("worker__key", "platform", "task")) == {
        ("anna", "mturk", "A7"),
        ("new", "", ""),  # the platform cannot pay a worker it did not send
    }


def test_a_longer_end_cannot_be_written_into_a_link(run):
    (link,) = make(run, "w1")
    own = Client().get(link).url
    content, _, signature = own.split("/")[2].rpartition(".")
    worker, number, until = content.split("-")
    for forged in (f"{worker}-{number}-{int(until) + 9999}", worker, f"{worker}-{number}"):
        assert Client().get(f"/work/{forged}.{signature}/").status_code == 404
    assert Client().get(link[:-2] + "/").status_code == 404


def test_replaced_links_lead_nowhere(run):
    mine, other = make(run, "w1", "w2")
    link_rotation.rotate_worker_link(run.candidates.get(worker__key="w1"))
    assert Client().get(mine).status_code == 404
    assert Client().get(other).status_code == 302
    assert Client().get(make(run, "w1")[0]).status_code == 302
    link_rotation.rotate_all_links(run)
    assert Client().get(other).status_code == 404


def test_temporary_link_to_a_closed_roster_explains_itself(run):
    (link,) = make(run, "late")
    roster_opening.close_roster(run)
    closed = Client().get(link)
    assert closed.status_code == 409
    assert "Nobody can join any more" in closed.content.decode()


def test_links_that_would_lead_nowhere_are_not_made(run):
    hour = timezone.now() + timedelta(hours=1)
    for workers, until, why in (
        ([], hour, "1 to 1,000 workers"),
        (["{{%PROLIFIC_PID%}}"], hour, "is not a worker’s id"),
        (["w1"], timezone.now(), "expire in the future"),
        (["w1"], timezone.now() + timedelta(days=400), "within 366 days"),
        (["w1"], hour.replace(tzinfo=None), "with its zone"),
    ):
        with pytest.raises(Refused, match=why):
            make_temporary_links(run, workers, until)
    roster_opening.close_roster(run)
    run.refresh_from_db()
    with pytest.raises(Conflict, match="“late” is not on the roster"):
        make(run, "w1", "late")
    lifecycle.stop_run(run)
    run.refresh_from_db()
    with pytest.raises(Conflict, match="has ended"):
        make(run, "w1")


def test_the_page_makes_a_file_of_links(run, requester):
    url = admin_url("run_temporary_links", run.pk)
    assert "Valid for (hours)" in text_of(requester.get(url))
    lines = lines_of(requester.post(url, {"workers": "w1\n anna \n\nw1", "hours": "5"}))
    assert lines[0] == "worker,link,until"
    assert [line.split(",")[0] for line in lines[1:]] == ["w1", "anna"]
    assert "/temporary/" in lines[1]
    event = run.events.first()
    assert event.who == "requester"
    assert event.what.startswith("Temporary links for 2 workers were made, until")
    refused = text_of(requester.post(url, {"workers": "undefined", "hours": "5"}))
    assert "“undefined” is not a worker’s id" in refused


def test_workers_of_ones_own_platform_get_back_there_and_others_stay_where_they_came_from(run):
    Run.objects.update(
        platform="custom",
        worker_parameter="who",
        completion_url="https://example.org/done?id={worker}&cc={code}",
    )
    run.refresh_from_db()
    own = Client().get(make(run, "anna")[0]).url
    lifecycle.stop_run(run)
    assert "https://example.org/done?id=anna&amp;cc=" in Client().get(own).content.decode()
    other = make_run(n=3, platform="prolific")
    other.candidates.filter(worker__key="w1").update(platform="prolific", task="s1")
    Client().get(make(other, "w1")[0])
    candidate = other.candidates.get(worker__key="w1")
    assert (candidate.platform, candidate.task) == ("prolific", "s1")
