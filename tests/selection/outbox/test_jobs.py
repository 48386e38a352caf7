"""Requests to other machines as jobs: no request thread waits, and no team takes all threads."""

from datetime import timedelta

import pytest
from aiohttp import web

from selection import db_clock
from selection.errors import NotFound, Refused
from selection.model_workers import testing
from selection.models import ApiToken, Job, ModelServer, Pool, Team, default_team
from selection.outbox import jobs
from tests.model_stub import ModelStub
from tests.selection.model_workers.conftest import inside as inside  # allows the stub's address
from tests.selection.model_workers.conftest import make_model_run
from tests.worlds import make_questions

pytestmark = pytest.mark.django_db
State = Job.State


@pytest.fixture
def performed(monkeypatch):
    """Kinds of jobs for these tests, and a list of those that were performed."""
    performed = []
    monkeypatch.setattr(jobs, "_kinds", {})

    @jobs.perform("list")
    def _list(job):
        performed.append(job.pk)
        return {"names": [job.wanted["word"]]}

    @jobs.perform("refuse")
    def _refuse(job):
        raise NotFound("There is no such thing.")

    @jobs.perform("break")
    def _break(job):
        raise RuntimeError("secret")

    return performed


def request_job(kind="list", team=None, **wanted):
    subject = Pool(pk=1)
    return jobs.request_job(team or default_team(), kind, subject, "ada", **wanted)


def test_views_answer_while_no_server_replies_and_a_team_has_a_limit(client):
    questions, secret = make_questions(12), ApiToken.issue("program")
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {secret}"
    with ModelStub(lambda model, text: "yes", seconds=300) as stub:
        path = f"/api/pools/{make_model_run(stub.url, start=False).pool_id}/test-calls"
        body = {"worker": "w0", "question_set": questions.pk}
        replies = [
            client.post(path, body | {"question": f"q{i}"}, content_type="application/json")
            for i in range(12)
        ]
        assert stub.bodies == []  # no view has asked the server
    most = jobs.MOST_JOBS
    assert [reply.status_code for reply in replies] == [202] * most + [429] * (12 - most)
    assert replies[0]["Location"] == f"/api/jobs/{replies[0].json()['id']}"
    assert client.get(replies[0]["Location"]).json()["state"] == "waiting"
    assert replies[-1]["Retry-After"] == "5"
    assert "try again after a reply" in replies[-1].json()["error"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"data": [{"id": "' + b"x" * 10_000_001 + b'"}]}', "more than 10,000,000 bytes"),
        (b"[" * 300_000, "not readable"),
        (b'{"data": [[1], {"id": {}}, 3]}', "not readable"),
        (b'{"data": [' + b'{"id": 1},' * 10_001 + b'{"id": 1}]}', "more than 10,000 models"),
    ],
)
def test_a_hostile_list_of_models_is_refused_in_a_sentence(monkeypatch, body, words):
    async def list_hostile(stub, request):
        return web.Response(body=body)

    monkeypatch.setattr(ModelStub, "_list", list_hostile)
    with ModelStub(lambda model, text: "yes") as stub:
        server = ModelServer.objects.create(name="S", url=stub.url)
        job = testing.request_server_models(server, "ada")
        jobs.work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.status) == (State.FAILED, 422)
    assert words in job.error


def test_the_limit_of_a_team_is_not_that_of_others(performed):
    for number in range(jobs.MOST_JOBS):
        request_job(word=number)
    with pytest.raises(jobs.TooManyJobs):
        request_job(word="more")
    other = Team.objects.create(name="Other")
    assert request_job(team=other.pk, word="more").going
    assert request_job(word=0) == Job.objects.first()  # the same request waits already


def test_a_job_is_performed_once_and_keeps_its_result(performed):
    job = request_job(word="m1")
    for _ in range(2):
        jobs.work_on_job(job.pk)
    job.refresh_from_db()
    assert (performed, job.state, job.result) == ([job.pk], State.DONE, {"names": ["m1"]})


@pytest.mark.parametrize(
    ("kind", "status", "words"), [("refuse", 404, "no such thing"), ("break", 500, "its log")]
)
def test_a_failure_is_kept_with_its_status_and_without_inner_words(performed, kind, status, words):
    job = request_job(kind)
    jobs.work_on_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.status) == (State.FAILED, status)
    assert words in job.error
    assert "secret" not in job.error


def test_sweep_ends_lost_and_interrupted_jobs(performed):
    now = db_clock.database_now()
    lost, late, cut, old = (request_job(word=number) for number in range(4))
    Job.objects.filter(pk=late.pk).update(created=now - jobs.WAITED)
    Job.objects.filter(pk=cut.pk).update(state=State.WORKING, sent=now - jobs.LONGEST)
    Job.objects.filter(pk=old.pk).update(expires=now - timedelta(seconds=1))
    jobs.sweep_jobs()
    states = dict(Job.objects.values_list("pk", "state"))
    assert states == {lost.pk: State.WAITING, late.pk: State.FAILED, cut.pk: State.FAILED}
    assert Job.objects.get(pk=lost.pk).sent is not None
    with pytest.raises(Refused, match="has expired"):
        jobs.find_job(old.pk, Job.objects.all())
