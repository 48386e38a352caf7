"""Label Studio: gold in, tasks out, answers back, through outages of every kind."""

import json
from datetime import timedelta

import pytest
from django.test import Client

from selection import connectors, db_clock, engine
from selection.connectors.platforms.label_studio import client as studio_client
from selection.errors import Refused
from selection.models import Connection, ConnectorCall, Pool, QuestionSet, default_team
from selection.runs import lifecycle
from tests.label_studio_stub import LEGACY, PERSONAL, LabelStudioStub
from tests.worlds import crowd, make_pool, make_run, open_of

pytestmark = pytest.mark.django_db
CONFIG = (
    '<View><Text name="prompt" value="$text"/><Choices name="answer" toName="prompt">'
    '<Choice value="yes"/><Choice value="no"/></Choices>'
    '<TextArea name="remark" toName="prompt"/></View>'
)
PARSED = {
    "answer": {
        "type": "Choices",
        "to_name": ["prompt"],
        "inputs": [{"type": "Text", "value": "text"}],
        "labels": ["yes", "no"],
    },
    "remark": {"type": "TextArea", "to_name": ["prompt"], "inputs": [], "labels": []},
}


@pytest.fixture(autouse=True)
def inside(settings):
    settings.CONNECTORS_INSIDE = True
    studio_client._access.clear()


@pytest.fixture
def studio():
    with LabelStudioStub() as stub:
        yield stub


def connect(studio, token=LEGACY):
    return connectors.create_connection(
        default_team(), "label_studio", "Ours", {"token": token}, studio.url
    )


@pytest.fixture
def run(studio):
    pool = make_pool(4)
    studio.invite(*(f"w{i}@example.org" for i in range(4)))
    for worker, user in zip(pool.workers.all(), studio.users[1:], strict=True):
        worker.attributes = {"label_studio": str(user["id"])}
        worker.save()
    made = make_run(pool=pool)
    made.question_set.questions.update(choices=["yes", "no"])
    engine.advance(made.pk)
    return made


@pytest.fixture
def link(studio, run):
    return connectors.connect_run(run, connect(studio))


def exchange(link):
    connectors.exchange(link.connection_id)
    link.refresh_from_db()
    link.connection.refresh_from_db()


def wake(link):
    """Let time pass: the rest of the connection is over, and polls are due again."""
    past = db_clock.database_now() - timedelta(minutes=5)
    Connection.objects.update(rests_until=past)
    type(link).objects.update(polled=past)
    ConnectorCall.objects.pending().update(due=past)


def numbers(run):
    return sorted(one.pk for one in open_of(run))


def user_of(studio, run, number):
    slip = next(one for one in open_of(run) if one.pk == number)
    return int(slip.candidate.worker.attributes["label_studio"])


def hear(link, message, secret=None):
    headers = {"x-crowdselect-secret": link.connection.secret if secret is None else secret}
    return Client().post(
        f"/connectors/{link.connection_id}/messages/",
        json.dumps(message),
        content_type="application/json",
        headers=headers,
    )


# -- connecting


def test_token_kinds_are_both_accepted(studio):
    assert connect(studio).checked
    studio.token = "gone"
    connection = connect_personal(studio)
    assert connectors.check_account(connection) == "Account “admin@example.org”."
    studio.access = "access-2"  # the old one has expired
    assert connectors.check_account(connection) == "Account “admin@example.org”."


def connect_personal(studio):
    return connectors.create_connection(
        default_team(), "label_studio", "With a JWT", {"token": PERSONAL}, studio.url
    )


@pytest.mark.parametrize(
    ("prepare", "token", "words"),
    [
        (lambda studio: None, "wrong-token", "does not accept the token"),
        (lambda studio: None, "a.wrong.jwt", "does not accept the token"),
        (lambda studio: setattr(studio, "legacy", False), LEGACY, "personal access token"),
        (lambda studio: studio.stop(), LEGACY, "No answer"),
        (lambda studio: studio.faults.append("broken"), LEGACY, "answered 500"),
        (lambda studio: studio.faults.append("missing"), LEGACY, "no Label Studio at this address"),
    ],
)
def test_a_wrong_account_is_refused_in_a_sentence(studio, prepare, token, words):
    prepare(studio)
    with pytest.raises(Refused, match=words) as refused:
        connect(studio, token)
    assert token not in str(refused.value)
    assert not Connection.objects.exists()


def test_an_address_inside_needs_the_setting(studio, settings):
    settings.CONNECTORS_INSIDE = False
    with pytest.raises(Refused, match="CONNECTORS_INSIDE"):
        connect(studio)


# -- in


@pytest.fixture
def gold_project(studio):
    project = studio.add_project(CONFIG, PARSED)
    for i in range(40):
        task = studio.add_task(project, {"text": f"Say yes to {i}.", "label": "yes"})
        studio.annotate(task, {"choices": ["yes"]}, gold=True)
    return project


def test_gold_questions_and_people_are_read(studio, gold_project):
    connection = connect(studio)
    studio.invite("ann@example.org")
    sources = connectors.list_sources(connection)
    assert [(one.id, one.name) for one in sources] == [(str(gold_project), "Birds")]
    questions, pool = QuestionSet.objects.create(name="gold"), Pool.objects.create(name="people")
    assert connectors.import_gold(questions, connection, str(gold_project)) == 40
    first = questions.questions.get(number=0)
    assert (first.prompt, first.accepted) == ("Say yes to 0.", ["yes"])
    assert first.choices == ["yes", "no"]
    assert connectors.import_workers(pool, connection) == 1  # the token's owner knows the answers
    assert pool.workers.get(key="ann@example.org").attributes["label_studio"]


@pytest.mark.parametrize(
    ("kind", "value", "tag", "accepted", "choices"),
    [
        ("Rating", {"rating": 4}, 'maxRating="5"', ["4"], ["1", "2", "3", "4", "5"]),
        ("Number", {"number": 7}, "", ["7"], []),
        ("TextArea", {"text": ["a gull"]}, "", ["a gull"], []),
        ("Choices", {"choices": ["a", "b"]}, 'choice="multiple"', ["a", "b"], ["a", "b", "c"]),
    ],
)
def test_control_kinds_are_read(studio, kind, value, tag, accepted, choices):
    config = f'<View><Text name="t" value="$text"/><{kind} name="answer" toName="t" {tag}/></View>'
    labels = choices if kind == "Choices" else []
    parsed = {"answer": {"type": kind, "inputs": [{"value": "text"}], "labels": labels}}
    project = studio.add_project(config, parsed)
    studio.annotate(studio.add_task(project, {"text": "?"}), value, gold=True)
    questions = QuestionSet.objects.create(name="gold")
    connectors.import_gold(questions, connect(studio), str(project))
    question = questions.questions.get()
    assert (question.accepted, question.choices) == (accepted, choices)
    assert question.grade(" | ".join(accepted))


def test_a_project_without_ground_truth_is_refused(studio):
    project = studio.add_project(CONFIG, PARSED)
    studio.add_task(project, {"text": "?"})
    with pytest.raises(Refused, match="no ground truth"):
        connectors.import_gold(QuestionSet.objects.create(name="g"), connect(studio), str(project))


# -- out


def test_assignments_become_tasks_without_the_accepted_answer(studio, run, link):
    exchange(link)
    assert studio.numbers() == numbers(run) != []
    assert link.problem == link.connection.problem == ""
    for task in studio.tasks.values():
        assert set(task["data"]) == {"crowdselect", "prompt", "choices"}
    by_worker = {one.pk: one.candidate.worker_id for one in open_of(run)}
    places = {worker: set() for worker in by_worker.values()}
    for number, worker in by_worker.items():
        places[worker].add(studio.task_of(number)["project"])
    assert all(len(projects) == 1 for projects in places.values())
    assert len(set.union(*places.values())) == len(places)


def test_the_interface_of_a_project_is_used_and_its_other_fields_are_not(studio, gold_project):
    connection, pool = connect(studio), Pool.objects.create(name="people")
    questions = QuestionSet.objects.create(name="gold")
    studio.invite("ann@example.org", "bob@example.org", "cy@example.org")
    connectors.import_gold(questions, connection, str(gold_project))
    connectors.import_workers(pool, connection)
    made = make_run(pool=pool, question_set=questions)
    engine.advance(made.pk)
    link = connectors.connect_run(made, connection, {"project": str(gold_project)})
    exchange(link)
    task = studio.task_of(numbers(made)[0])
    assert set(task["data"]) == {"crowdselect", "text"}  # "label" has the answer
    assert studio.projects[task["project"]]["label_config"] == CONFIG


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["lost", "broken", "limited"])
@pytest.mark.parametrize("place", range(8))
def test_a_fault_at_any_request_loses_and_doubles_nothing(studio, run, link, fault, place):
    studio.faults = [None] * place + [fault]
    for _ in range(3):
        exchange(link)
        wake(link)
    assert studio.numbers() == numbers(run)
    assert len(studio.projects) == len({one.candidate.worker_id for one in open_of(run)})


@pytest.mark.parametrize("place", range(4))
def test_many_tasks_of_a_worker_are_sent_in_one_request(studio, run, link, place, monkeypatch):
    monkeypatch.setattr(studio_client, "FEW", 0)
    studio.faults = [None] * place + ["lost"]
    for _ in range(2):
        exchange(link)
        wake(link)
    assert studio.numbers() == numbers(run)
    assert "POST /api/tasks/" not in studio.requests


def test_an_outage_is_told_and_made_up_for(studio, run, link):
    studio.stop()
    for _ in range(3):
        exchange(link)
        assert "No answer" in link.connection.problem
        wake(link)
    studio.start()
    exchange(link)
    assert studio.numbers() == numbers(run)
    assert link.connection.problem == ""


def test_an_expired_token_is_told_with_its_remedy(studio, run, link):
    studio.token = "new-token-new"
    exchange(link)
    assert "Account & Settings" in link.connection.problem
    secrets = {"token": "new-token-new"}
    connectors.save_connection(link.connection, name="Ours", address=studio.url, secrets=secrets)
    exchange(link)
    assert studio.numbers() == numbers(run)


def test_a_project_deleted_by_hand_is_made_anew(studio, run, link):
    exchange(link)
    studio.delete_project(studio.task_of(numbers(run)[0])["project"])
    for _ in range(2):
        wake(link)
        exchange(link)
    assert studio.numbers() == numbers(run)
    assert "made anew" in link.problem


def test_a_task_deleted_by_hand_is_sent_again(studio, run, link):
    exchange(link)
    del studio.tasks[studio.task_of(numbers(run)[0])["id"]]
    for _ in range(2):
        wake(link)
        exchange(link)
    assert studio.numbers() == numbers(run)


def test_an_answer_in_any_copy_of_a_task_counts(studio, run, link):
    exchange(link)
    number = numbers(run)[0]
    task = studio.task_of(number)
    studio.add_task(task["project"], task["data"])
    studio.annotate(task["id"], {"choices": ["yes"]}, user_of(studio, run, number))
    wake(link)
    exchange(link)
    assert run.answers.get(assignment=number).response == "yes"


def test_a_number_of_another_person_as_a_name_is_not_that_person(studio, run, link):
    """The attribute names the worker there; their name may be anybody's number."""
    worker = open_of(run)[0].candidate.worker
    stranger = next(
        one for one in studio.users[1:] if str(one["id"]) != worker.attributes["label_studio"]
    )
    worker.key = str(stranger["id"])
    worker.save()
    exchange(link)
    assert link.workers.get(worker=worker).outside_id == worker.attributes["label_studio"]
    number = next(one.pk for one in open_of(run) if one.candidate.worker_id == worker.pk)
    message = studio.annotate(studio.task_of(number)["id"], {"choices": ["yes"]}, stranger["id"])
    assert hear(link, message).json() == {"changed": 0}
    assert not run.answers.exists()


def test_the_end_of_the_run_removes_open_tasks_and_keeps_answered_ones(studio, run, link):
    exchange(link)
    first = numbers(run)[0]
    user = user_of(studio, run, first)
    hear(link, studio.annotate(studio.task_of(first)["id"], {"choices": ["yes"]}, by=user))
    lifecycle.stop_run(run)
    exchange(link)
    assert studio.numbers() == [first]


def test_a_task_answered_a_moment_before_its_removal_stays(studio, run, link):
    exchange(link)
    first, *others = numbers(run)
    studio.late = {studio.task_of(first)["id"]: user_of(studio, run, first)}
    lifecycle.stop_run(run)
    exchange(link)
    assert studio.numbers() == [first]
    assert others
    exchange(link)
    assert dict(link.tasks.values_list("number", "state"))[first] == "answered"


def test_workers_are_members_of_their_projects_where_the_edition_has_members(studio, run, link):
    studio.enterprise = True
    exchange(link)
    places = link.workers.exclude(place="")
    expected = {(int(one.place), int(one.outside_id)) for one in places}
    assert set(studio.members) == expected != set()


def test_unknown_people_are_told_before_the_run_is_connected(studio, run):
    for worker in run.pool.workers.all():
        worker.attributes = {}
        worker.save()
    with pytest.raises(Refused, match="attribute label_studio"):
        connectors.connect_run(run, connect(studio))


# -- back


def test_an_answer_arrives_by_message_and_by_poll_and_counts_once(studio, run, link):
    exchange(link)
    first, second = numbers(run)[:2]
    message = studio.annotate(
        studio.task_of(first)["id"], {"choices": ["yes"]}, by=user_of(studio, run, first)
    )
    studio.annotate(
        studio.task_of(second)["id"], {"choices": ["no"]}, by=user_of(studio, run, second)
    )
    assert hear(link, message).json() == {"changed": 1}
    assert hear(link, message).json() == {"changed": 0}
    wake(link)
    exchange(link)
    found = dict(run.answers.values_list("assignment_id", "response"))
    assert found == {first: "yes", second: "no"}


def test_the_latest_edit_wins_and_a_skip_is_a_refusal(studio, run, link):
    exchange(link)
    first, second = numbers(run)[:2]
    task, user = studio.task_of(first)["id"], user_of(studio, run, first)
    created = studio.annotate(task, {"choices": ["yes"]}, by=user)
    edited = studio.edit(created["annotation"]["id"], {"choices": ["no"]})
    hear(link, edited)
    hear(link, created)  # it arrives late
    hear(link, studio.annotate(studio.task_of(second)["id"], None, by=user_of(studio, run, second)))
    rows = run.answers.values_list("assignment_id", "response", "right", "expired")
    assert sorted(rows) == sorted([(first, "no", False, False), (second, "", False, True)])


def test_a_message_without_the_secret_is_refused(studio, run, link):
    exchange(link)
    first = numbers(run)[0]
    message = studio.annotate(studio.task_of(first)["id"], {"choices": ["yes"]})
    assert hear(link, message, secret="").status_code == 403
    assert hear(link, message, secret="guess").status_code == 403
    assert not run.answers.exists()


def test_polls_go_on_when_label_studio_refuses_webhooks(studio, run, link):
    studio.takes_hooks = False
    exchange(link)
    first = numbers(run)[0]
    user = user_of(studio, run, first)
    studio.annotate(studio.task_of(first)["id"], {"choices": ["yes"]}, by=user)
    wake(link)
    exchange(link)
    assert run.answers.count() == 1
    assert "docs/label-studio.md" in link.workers.first().notes["webhook"]


def test_a_run_is_played_to_its_end_through_faults_and_restarts(studio, run, link):
    """Nothing is lost or counted twice although every seventh request fails."""
    respond, answered = crowd(3, good=2, high=1.0, low=0.1), set()
    for turn in range(200):
        studio.faults = [None, "lost", None, None, "broken", None, None][turn % 7 :]
        if turn == 5:
            studio.stop()
        exchange(link)
        if turn == 8:
            studio.start()
        slips = {one.pk: one for one in open_of(run)}
        for number in [one for one in studio.numbers() if one in slips and one not in answered]:
            user = user_of(studio, run, number)
            value = {"choices": [respond(slips[number])]}
            message = studio.annotate(studio.task_of(number)["id"], value, by=user)
            answered.add(number)
            if turn % 3:
                hear(link, message)  # else it is lost, and found by a poll
        wake(link)
        engine.advance(run.pk)
        run.refresh_from_db()
        if run.status == run.Status.ENDED:
            break
    assert run.status == run.Status.ENDED
    counted = set(run.answers.filter(expired=False).values_list("assignment_id", flat=True))
    assert counted <= answered
    assert {one.worker.key for one in run.candidates.filter(verdict=1)} == {"w0", "w1"}


# -- afterwards


def test_the_selection_is_written_into_the_description_once(studio, run, link, gold_project):
    link.settings = {"project": str(gold_project)}
    link.save()
    studio.projects[gold_project]["description"] = "Birds of the coast."
    for chosen in (["w0"], ["w0", "w1"]):
        connectors.write_back(link, "description", chosen)
        exchange(link)
    text = studio.projects[gold_project]["description"]
    assert text.startswith("Birds of the coast.")
    assert text.count("[CrowdSelect]") == 1
    assert "w0, w1" in text


def test_members_are_added_where_the_edition_has_them(studio, run, link, gold_project):
    link.settings = {"project": str(gold_project)}
    link.save()
    connectors.write_back(link, "members", ["w0"])
    exchange(link)
    assert "no members of projects" in link.problem
    studio.enterprise = True
    connectors.write_back(link, "members", ["w0"])
    exchange(link)
    assert studio.members == [(gold_project, studio.users[1]["id"])]
