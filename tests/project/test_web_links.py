"""A worker's link opens that worker's page in that run while it lasts, and nothing else."""

import pytest
from django.test import Client

from selection import engine
from selection.models import Answer, Candidate, Run
from selection.runs import lifecycle
from selection.runs.roster import roster_opening
from selection.worker import links
from tests.worlds import make_run, open_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    made = make_run(enrolling=True)
    engine.advance(made.pk)
    return made


@pytest.fixture
def worker(run: Run) -> Candidate:
    return open_of(run)[0].candidate


def path(worker: Candidate) -> str:
    return f"/work/{links.worker_token(worker.pk)}/"


def join_path(run: Run) -> str:
    return links.join_address(run).removeprefix("http://127.0.0.1:8000")


def test_worker_link_shows_only_given_answers_once_the_run_ended(client, run, worker):
    run.question_set.instructions = "How to do it."
    run.question_set.save()
    assert "How to do it." in client.get(path(worker)).content.decode()
    seen = Candidate.objects.get(pk=worker.pk).seen
    lifecycle.stop_run(run)
    for query in ("", "?leave", "?notice=ended"):
        page = client.get(path(worker) + query)
        assert page.status_code == 410
        words = page.content.decode()
        assert "this test is over" in words
        assert "<form" not in words
        assert "How to do it." not in words
        assert "0 answered<" in words
    assert Candidate.objects.get(pk=worker.pk).seen == seen


def test_worker_link_takes_no_answer_once_the_run_ended(client, run, worker):
    slip = open_of(run)[0]
    lifecycle.stop_run(run)
    client.post(path(worker), {"assignment": slip.pk, "response": "yes"})
    client.post(path(worker), {"leave": "yes"})
    assert not Answer.objects.exists()
    assert Candidate.objects.get(pk=worker.pk).gone == ""


def test_worker_link_opens_again_when_the_run_continues(client, run, worker):
    lifecycle.stop_run(run)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, ended=None, ending="")
    assert client.get(path(worker)).status_code == 200


def test_join_link_ends_with_the_run_for_known_workers_too(client, run, worker):
    known = {"worker": worker.worker.key}
    assert client.get(join_path(run), known).status_code == 302
    lifecycle.stop_run(run)
    for answer in (
        client.get(join_path(run), known, follow=True),
        client.get(join_path(run), {"worker": "nobody"}),
        client.post(join_path(run), known),
    ):
        assert answer.status_code == 410


def test_join_link_admits_no_new_worker_once_the_roster_is_closed(client, run):
    roster_opening.close_roster(run)
    assert client.get(join_path(run), {"worker": "new"}).status_code == 409
    assert not run.candidates.filter(worker__key="new").exists()


def test_worker_link_opens_no_other_address(run, worker, token):
    secret, join = links.worker_token(worker.pk), join_path(run).split("/")[2]
    client = Client()
    for wrong in (f"/join/{secret}/", f"/work/{join}/", f"/work/{token}/", f"/join/{token}/"):
        assert client.get(wrong).status_code == 404
    for held in (secret, join):
        answer = client.get(f"/api/runs/{run.pk}", headers={"authorization": f"Bearer {held}"})
        assert answer.status_code == 401
        client.cookies["sessionid"] = held
        assert client.get("/admin/").status_code == 302


def test_worker_link_takes_no_answer_of_another_worker(client, run, worker):
    other = next(slip for slip in open_of(run) if slip.candidate_id != worker.pk)
    answer = client.post(path(worker), {"assignment": other.pk, "response": "yes"})
    assert answer.status_code == 404
    assert not Answer.objects.exists()


def test_worker_link_shows_no_worker_of_another_run(client, run, worker):
    """The signature covers the run: the same worker has another link in another run."""
    again = make_run(pool=run.pool)
    twin = again.candidates.get(worker=worker.worker)
    assert links.worker_token(twin.pk) != links.worker_token(worker.pk)
    lifecycle.stop_run(run)
    assert client.get(path(worker)).status_code == 410
    assert client.get(path(twin)).status_code == 200


def test_visiting_a_page_sets_no_cookie(client, worker):
    client.get(path(worker))
    client.post(path(worker), {"assignment": 1, "response": "yes"})
    assert not client.cookies
