"""Each platform by link: its settings, its worker's visit, the way back, the exported result."""

import csv
import io
from urllib.parse import urlencode

import pytest
from django.test import Client

from packages.topk.tests.parameters import mostly_slow
from selection import engine
from selection.models import Run
from selection.runs import worker_texts
from selection.runs.worker_texts import PageFacts
from selection.worker import links
from tests.worlds import make_pool, make_questions

pytestmark = pytest.mark.django_db

OWN = "https://example.org/done?id={worker}&session={task}&cc={code}"
CREDIT = "https://school.sona-systems.com/webstudy_credit.aspx?experiment_id=1&survey_code={worker}"
PROJECT = "https://connect.cloudresearch.com/participant/project/FF4E/complete"
SURVEY = "https://survey.example.org/complete"
PROLIFIC = "https://app.prolific.com/submissions/complete?cc=C1"
# By name: the settings, the parameters of a visit, the stored task, the address back.
PLATFORMS: dict[str, tuple[dict[str, str], dict[str, str], str, str]] = {
    "prolific": ({}, {"PROLIFIC_PID": "60a1" * 6, "SESSION_ID": "x-7"}, "x-7", PROLIFIC),
    "connect": (
        {"completion_url": PROJECT},
        {"participantId": "60 a", "assignmentId": "a7", "projectId": "FF4E"},
        "a7",
        PROJECT,
    ),
    "besample": ({"completion_url": SURVEY}, {"response_id": "60 a"}, "", SURVEY),
    "sona": (
        {"completion_url": CREDIT},
        {"id": "60 a"},
        "",
        CREDIT.replace("{worker}", "60%20a"),
    ),
    "mturk": (
        {"completion_url": SURVEY},
        {"workerId": "60 a", "assignmentId": "3X"},
        "3X",
        SURVEY,
    ),
    "custom": (
        {"worker_parameter": "person", "completion_url": OWN},
        {"person": "60 a"},
        "",
        "https://example.org/done?id=60%20a&session=&cc=C1",
    ),
}


def settings_of(platform: str, **more: object) -> dict[str, object]:
    return {
        "name": f"From {platform}",
        "pool": make_pool(2).pk,
        "question_set": make_questions(3).pk,
        "k": 1,
        "algorithm": "lucb",
        "enrolling": True,
        "platform": platform,
    } | more


def join_link(run: Run) -> str:
    return links.join_address(run).removeprefix("http://127.0.0.1:8000")


def begin(manager, platform: str, **more: object) -> Run:
    made = manager.post("runs", settings_of(platform, **more))
    assert made.status_code == 201, made.content
    started = manager.post(f"runs/{made.json()['id']}/transitions/start")
    assert started.status_code == 200, started.content
    run = Run.objects.get()
    worker_texts.change_facts(run, PageFacts(codes={"done": "C1", "nothing": "C3"}))
    run.refresh_from_db()
    return run


def answer_all(own: str, run: Run) -> str:
    """Answer as the worker until nothing is left; return the last page."""
    page = Client()
    engine.advance(run.pk)
    page.post(own, {"start": "yes"}, follow=True)
    for _ in range(10):
        engine.advance(run.pk)
        shown = page.get(own)
        if shown.context["page"].question is None:
            return shown.content.decode().replace("&amp;", "&")
        sent = {"assignment": shown.context["page"].question.assignment, "response": "yes"}
        page.post(own, sent, follow=True)
    raise AssertionError("The questions do not end.")


@pytest.mark.parametrize("completion", mostly_slow(["redirect", "code"], ordinary=["redirect"]))
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_platforms_worker_joins_answers_goes_back_and_is_exported(manager, platform, completion):
    settings, visit, task, back = PLATFORMS[platform]
    key = next(iter(visit.values()))
    if completion == "code":
        settings, back = settings | {"completion_url": ""}, ""
    run = begin(manager, platform, completion=completion, **settings)
    own = Client().get(f"{join_link(run)}?{urlencode(visit)}").url
    candidate = run.candidates.get(worker__key=key)
    assert (candidate.platform, candidate.task) == (platform, task)
    assert own == f"/work/{links.worker_token(candidate.pk)}/"
    end = answer_all(own, run)
    assert "no more questions" in end
    assert "<code>C1</code>" in end
    assert (f'href="{back}"' in end) if back else ("Go back" not in end)
    exported = manager.get(f"runs/{run.pk}/export", format="payment", pay="0.1")
    text = b"".join(exported.streaming_content).decode("utf-8-sig")
    rows = {row["worker"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (rows[key]["platform"], rows[key]["task"]) == (platform, task)
    assert rows[key]["answered"] == "3"


def test_chosen_parameter_alone_holds_the_worker_id(manager):
    run = begin(manager, "connect", worker_parameter="who", completion="code")
    wrong = Client().get(join_link(run), {"workerId": "anna"})
    assert wrong.status_code == 422
    assert "does not contain a readable worker id" in wrong.content.decode()
    assert Client().get(join_link(run), {"who": "anna"}).status_code == 302
    assert run.candidates.filter(worker__key="anna").exists()


def test_completion_address_is_shown_only_to_workers_who_are_done(manager):
    run = begin(manager, "connect", completion_url=PROJECT)
    own = Client().get(join_link(run), {"participantId": "anna"}).url
    waiting = Client().get(own).content.decode()
    assert PROJECT not in waiting
    run.status = Run.Status.ENDED
    run.save(update_fields=["status"])
    assert PROJECT not in Client().get(own).content.decode()
    late = Client().get(join_link(run), {"participantId": "late"})
    assert (late.status_code, PROJECT in late.content.decode()) == (410, False)


def test_no_link_leads_back_if_workers_hand_in_a_code(manager):
    run = begin(manager, "prolific", completion="code")
    own = Client().get(join_link(run), {"PROLIFIC_PID": "60a1" * 6}).url
    shown = Client().post(own, {"start": "yes"}, follow=True).content.decode()
    assert "app.prolific.com" not in shown
    assert "Your first question is on its way" in shown


@pytest.mark.parametrize(
    ("platform", "settings", "refusal"),
    [
        ("custom", {}, "Enter the name before the worker’s id"),
        ("custom", {"worker_parameter": "a b"}, "“a b” cannot be the parameter"),
        ("custom", {"worker_parameter": "language"}, "“language” cannot be the parameter"),
        ("", {"worker_parameter": "who"}, "Choose the platform first"),
        ("", {"completion_url": PROJECT}, "Choose the platform first"),
        ("connect", {"completion_url": "javascript:alert(1)"}, "Enter a whole address"),
        ("connect", {"completion_url": "https://example.org/a b"}, "Enter a whole address"),
        ("connect", {"completion_url": f"{PROJECT}?{{id}}"}, "{id} is not a placeholder"),
        ("connect", {"completion_url": PROJECT, "completion": "code"}, "remove the address"),
        ("sona", {"completion_url": PROJECT}, "Put {worker} into the address"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_a_sentence(manager, platform, settings, refusal):
    refused = manager.post("runs", settings_of(platform, **settings))
    assert refused.status_code == 422
    assert refusal in refused.json()["error"]
    assert not Run.objects.exists()


def test_a_run_without_the_address_back_does_not_start(manager):
    made = manager.post("runs", settings_of("connect")).json()
    refused = manager.post(f"runs/{made['id']}/transitions/start")
    assert refused.status_code == 422
    assert "For Connect the link back needs an address" in refused.json()["error"]


def test_the_platform_changes_during_a_run_if_the_settings_fit_together(manager):
    run = begin(manager, "prolific")
    at = f"runs/{run.pk}"
    refused = manager.patch(at, {"platform": "connect"})
    assert "For Connect the link back needs an address" in refused.json()["error"]
    changed = manager.patch(at, {"platform": "connect", "completion": "code"}).json()["changed"]
    assert changed == {
        "platform": "The join link takes workers from Connect.",
        "completion": "At the end workers hand in a code that workers enter there.",
    }
    assert Client().get(join_link(run), {"participantId": "anna"}).status_code == 302
    back = {"platform": "custom", "worker_parameter": "p", "completion": "redirect"}
    changed = manager.patch(at, back | {"completion_url": OWN}).json()["changed"]
    assert changed["worker_parameter"].endswith("in the parameter “p”.")
    assert changed["completion_url"] == f"The return address is {OWN}."
