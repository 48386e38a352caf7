"""A watch in Label Studio: gold among the tasks, answers back, pauses there."""

from datetime import timedelta

import pytest

from selection import connectors, db_clock
from selection.connectors.platforms.label_studio import client as studio_client
from selection.errors import Conflict, Refused
from selection.models import (
    GoldAnswer,
    GoldTask,
    QuestionSet,
    Team,
    WatchConnection,
    default_team,
)
from selection.watches import alarms, begin, session
from selection.watches.gold import GivenGold, record_gold
from tests.label_studio_stub import LEGACY, LabelStudioStub
from tests.label_studio_world import (
    CONFIG,
    MANUAL,
    PARSED,
    add_project,
    exchange,
    join,
    lying,
    user,
    watch_with,
)
from tests.selection.watches.worlds import settle, state_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def inside(settings):
    settings.CONNECTORS_INSIDE = True
    studio_client._access.clear()


@pytest.fixture
def studio():
    with LabelStudioStub() as stub:
        stub.invite(*(f"w{i}@example.org" for i in range(4)))
        yield stub


@pytest.fixture
def connection(studio):
    secrets = {"token": LEGACY}
    return connectors.create_connection(default_team(), "label_studio", "Ours", secrets, studio.url)


def test_gold_is_one_in_n_tasks_and_looks_like_the_others(studio, connection):
    project = add_project(studio, 95)
    link = join(watch_with(studio, every=20), connection, project)
    tasks = lying(studio, link)
    assert len(tasks) == 5  # of 100 tasks
    assert link.problem == link.connection.problem == ""
    for task in tasks:
        assert set(studio.tasks[task]["data"]) == {"text"}
    for _ in range(19):
        studio.add_task(project, {"text": "A later bird?"})
    exchange(link)
    exchange(link)
    assert len(lying(studio, link)) == 6


def test_gold_of_a_common_project_is_drawn_once_for_all(studio, connection):
    watch = watch_with(studio, questions=4, every=2)
    link = join(watch, connection, add_project(studio, 20))
    questions = list(link.gold_tasks.values_list("question", flat=True))
    assert len(questions) == len(set(questions)) == 4
    assert "No gold question is left for all workers" in " ".join(link.memory["notes"])


def test_gold_of_assigned_tasks_is_drawn_for_each_worker(studio, connection):
    studio.enterprise = True
    link = join(watch_with(studio, every=20), connection, add_project(studio, 114, **MANUAL))
    assert len(lying(studio, link)) == 6  # 120 tasks: two for each of three workers
    for row in link.gold_tasks.select_related("watched__worker"):
        person = user(studio, row.watched.worker.key)
        assert studio.assigned[int(row.outside_id)] == [person]


def test_project_of_a_worker_takes_their_gold(studio, connection):
    watch, common, own = watch_with(studio), add_project(studio, 0), add_project(studio, 40)
    worker = watch.pool.workers.get(key="w1")
    worker.attributes |= {"label_studio_project": str(own)}
    worker.save()
    link = join(watch, connection, common)
    assert set(link.gold_tasks.values_list("place", "watched__worker__key")) == {(str(own), "w1")}


def test_weekly_gold_comes_one_by_one(studio, connection):
    watch = watch_with(studio, pace="week", every=7)
    studio.enterprise = True
    link = join(watch, connection, add_project(studio, 5, **MANUAL))
    exchange(link)
    assert link.gold_tasks.count() == 3
    GoldTask.objects.update(made=db_clock.database_now() - timedelta(hours=25))
    exchange(link)
    assert link.gold_tasks.count() == 6


def test_answers_count_in_the_order_of_asking(studio, connection):
    watch = watch_with(studio, every=2)
    link = join(watch, connection, add_project(studio, 3))
    first, second, third = lying(studio, link)
    studio.annotate(second, {"choices": ["no"]}, user(studio, "w0"))
    studio.annotate(first, {"choices": ["yes"]}, user(studio, "w0"))
    annotation = studio.tasks[first]["annotations"][0]
    annotation["lead_time"] = 60  # it was shown first
    studio.annotate(third, None, user(studio, "w1"))  # skipped
    exchange(link)
    exchange(link)  # nothing counts twice
    rows = GoldAnswer.objects.order_by("asked").values_list("watched__worker__key", "response")
    assert list(rows) == [("w0", "yes"), ("w0", "no"), ("w1", "")]
    assert lying(studio, link) == [third]
    assert link.problem == ""


def test_skipped_task_counts_as_not_right_once_its_time_is_over(studio, connection):
    watch = watch_with(studio, 1, every=2)
    studio.enterprise = True
    link = join(watch, connection, add_project(studio, 4, **MANUAL))
    first, second, third, fourth = lying(studio, link)
    worker = user(studio, "w0")
    studio.annotate(first, None, worker)
    studio.annotate(second, None, worker)
    studio.annotate(third, {"choices": ["yes"]}, worker)
    exchange(link)
    studio.annotate(second, {"choices": ["yes"]}, worker)  # it came again, in time
    exchange(link)
    assert first in lying(studio, link)
    settle(watch)
    row = state_of(watch)
    assert (row.answers, row.right) == (3, 2)
    studio.annotate(first, {"choices": ["yes"]}, worker)
    exchange(link)
    assert "Too late" in link.problem
    assert lying(studio, link) == [fourth]
    settle(watch)
    assert state_of(watch).right == 2


@pytest.mark.parametrize(
    ("annotate", "words"),
    [
        (lambda studio, task: studio.annotate(task, {"choices": ["yes"]}, 1), "is not watched"),
        (
            lambda studio, task: studio.annotate(task, {"choices": ["maybe"]}, user(studio, "w0")),
            "not among the choices",
        ),
        (
            lambda studio, task: studio.annotate(
                task, {"choices": ["yes"]}, user(studio, "w0"), name="remark"
            ),
            "no answer in the control",
        ),
    ],
)
def test_answer_that_cannot_count_is_told(studio, connection, annotate, words):
    link = join(watch_with(studio, every=2), connection, add_project(studio, 1))
    annotate(studio, lying(studio, link)[0])
    exchange(link)
    assert words in link.problem
    assert not GoldAnswer.objects.exists()


@pytest.mark.parametrize(
    ("fault", "place"),
    [
        ("lost", 3),
        *(
            pytest.param(fault, place, marks=pytest.mark.slow)
            for fault in ("lost", "broken", "limited")
            for place in range(1, 8)
        ),
    ],
)
def test_fault_at_any_request_loses_and_doubles_nothing(studio, connection, fault, place):
    project = add_project(studio, 3)
    link = connectors.connect_watch(
        watch_with(studio, every=2), connection, {"project": str(project)}
    )
    studio.faults = [None] * place + [fault]
    for _ in range(3):
        exchange(link)
    assert len(lying(studio, link)) == 3
    assert len(studio.tasks) == 6
    task = lying(studio, link)[0]
    studio.annotate(task, {"choices": ["yes"]}, user(studio, "w0"))
    studio.faults = [None] * place + [fault]
    for _ in range(3):
        exchange(link)
    assert GoldAnswer.objects.count() == 1


def test_creation_killed_before_its_end_makes_no_second_task(studio, connection):
    link = join(watch_with(studio, every=20), connection, add_project(studio, 95))
    tasks = len(studio.tasks)
    link.gold_tasks.update(state="waiting")  # the process knew the id, and had not said so
    exchange(link)
    assert len(studio.tasks) == tasks
    assert link.gold_tasks.filter(state="sent").count() == 5


def test_task_deleted_by_hand_is_replaced(studio, connection):
    link = join(watch_with(studio, every=2), connection, add_project(studio, 1))
    (task,) = lying(studio, link)
    del studio.tasks[task]
    exchange(link)
    exchange(link)
    assert len(lying(studio, link)) == 1
    assert "deleted" in link.problem


def test_fallen_worker_is_paused_there_until_the_pause_ends(studio, connection):
    """From the joined watch to the alarm, the pause of the member, and its end."""
    studio.enterprise = True
    watch = watch_with(studio, every=2, pause_on_alarm=True)
    project = add_project(studio, 36, **MANUAL)
    link = join(watch, connection, project)
    for _ in range(60):
        for row in link.gold_tasks.filter(state="sent").select_related("watched__worker"):
            key = row.watched.worker.key
            value = {"choices": ["no" if key == "w0" else "yes"]}
            studio.annotate(int(row.outside_id), value, user(studio, key))
        exchange(link)
        settle(watch)
        if state_of(watch).state == "paused":
            break
    assert [row.state for row in watch.workers.order_by("worker__key")] == [
        "paused",
        "fine",
        "fine",
    ]
    exchange(link)
    (pause,) = studio.paused(project, user(studio, "w0"))
    assert "paused" in pause["verbose_reason"]
    assert not lying(studio, link, watched__worker__key="w0")
    assert not studio.paused(project, user(studio, "w1"))
    alarms.resume_worker(state_of(watch), "ada")
    connectors.exchange(link.connection_id, polls=False)
    assert not studio.paused(project, user(studio, "w0"))
    exchange(link)
    assert not studio.paused(project, user(studio, "w0"))


def test_pause_by_hand_is_left_alone(studio, connection):
    studio.enterprise = True
    watch, project = watch_with(studio), add_project(studio)
    link = join(watch, connection, project)
    person = user(studio, "w0")
    studio.pauses.append(
        {"id": 999, "project": project, "user": person, "deleted_at": None, "verbose_reason": "?"}
    )
    alarms.pause_worker(state_of(watch), "ada")
    studio.faults = [None, "lost"]
    for _ in range(2):
        exchange(link)
    assert len(studio.paused(project, person)) == 2
    alarms.resume_worker(state_of(watch), "ada")
    exchange(link)
    assert [one["id"] for one in studio.paused(project, person)] == [999]


def test_edition_without_pauses_leaves_the_member_to_people(studio, connection):
    watch = watch_with(studio)
    link = join(watch, connection, add_project(studio))
    alarms.pause_worker(state_of(watch), "ada")
    exchange(link)
    assert link.members.get(watched=state_of(watch)).pause == "refused"
    assert link.connection.problem == link.problem == ""
    alarms.resume_worker(state_of(watch), "ada")
    exchange(link)
    assert link.members.get(watched=state_of(watch)).pause == ""


def test_paused_worker_of_an_own_project_gets_no_further_gold(studio, connection):
    watch = watch_with(studio, 1, every=2)
    own = add_project(studio, 3)
    watch.pool.workers.update(
        attributes={"label_studio": "w0@example.org", "label_studio_project": str(own)}
    )
    link = join(watch, connection, add_project(studio, 0))
    assert len(lying(studio, link)) == 3
    alarms.pause_worker(state_of(watch), "ada")
    for _ in range(2):
        exchange(link)
    assert len(studio.tasks) == 3  # the production tasks


def test_disconnection_removes_open_gold_and_keeps_late_answers(studio, connection):
    link = join(watch_with(studio, every=2), connection, add_project(studio, 3))
    first, *others = lying(studio, link)
    studio.late = {first: user(studio, "w0")}
    connectors.disconnect_watch(link, "ada")
    exchange(link)
    assert not set(others) & set(studio.tasks)
    assert first in studio.tasks
    assert GoldAnswer.objects.count() == 1
    assert not link.gold_tasks.filter(state__in=("waiting", "sent", "leaving")).exists()


def test_tested_worker_gets_gold_at_once(studio, connection):
    studio.enterprise = True
    watch = watch_with(studio)
    link = join(watch, connection, add_project(studio, 0, **MANUAL))
    alarms.pause_worker(state_of(watch), "ada")
    alarms.requalify_worker(state_of(watch), "ada")
    exchange(link)
    assert len(lying(studio, link, watched=state_of(watch))) == 5


def test_question_that_lies_there_is_not_on_the_page_of_the_worker(studio, connection):
    studio.enterprise = True
    watch = watch_with(studio, 1, questions=1, every=1)
    link = join(watch, connection, add_project(studio, 1, **MANUAL))
    assert len(lying(studio, link)) == 1
    assert session.find_next(state_of(watch)).state == "done"
    record_gold(watch, [GivenGold("w0", "q0", "yes")])  # by the API
    exchange(link)
    assert not lying(studio, link)


# -- refusals


def change_interface(studio, watch, project):
    studio.projects[project]["parsed_label_config"] = {}


def change_choices(studio, watch, project):
    studio.projects[project]["parsed_label_config"] = {
        "answer": {**PARSED["answer"], "labels": ["gull", "tern"]}
    }


def show_more(studio, watch, project):
    studio.projects[project]["label_config"] = CONFIG + '<Image value="$photo"/>'


def forget_people(studio, watch, project):
    studio.users = studio.users[:1]


def mark_as_own(studio, watch, project):
    studio.projects[project]["title"] = "w0: run [cs-abc123-1-2]"


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (change_interface, "needs one control"),
        (change_choices, "asks for gull | tern"),
        (show_more, "shows photo, text"),
        (forget_people, "attribute label_studio"),
        (mark_as_own, "has a run's tasks"),
        (lambda studio, watch, project: studio.delete_project(project), "sees no project"),
    ],
)
def test_project_that_does_not_fit_is_refused(studio, connection, prepare, words):
    watch, project = watch_with(studio), add_project(studio, 1)
    prepare(studio, watch, project)
    with pytest.raises(Refused) as refusal:
        connectors.connect_watch(watch, connection, {"project": str(project)})
    assert words in str(refusal.value)
    assert not WatchConnection.objects.exists()


def test_connection_of_another_team_is_refused(studio, connection):
    watch, project = watch_with(studio), add_project(studio, 1)
    connection.team = Team.objects.create(name="others")
    with pytest.raises(Refused, match="same team"):
        connectors.connect_watch(watch, connection, {"project": str(project)})


def test_member_who_is_not_matched_is_told_and_matched_later(studio, connection):
    watch = watch_with(studio)
    studio.users = [one for one in studio.users if not one["email"].startswith("w2")]
    link = join(watch, connection, add_project(studio))
    assert "Nobody in Label Studio is “w2”." in " ".join(link.memory["notes"])
    assert link.members.count() == 2
    studio.invite("w2@example.org")
    exchange(link)
    assert link.members.count() == 3
    assert not link.memory["notes"]


def test_gold_project_has_the_data_of_the_tasks(studio, connection):
    gold = add_project(studio, 0)
    show_more(studio, None, gold)
    keys = [studio.add_task(gold, {"text": "a", "photo": "b", "label": "yes"}) for _ in range(3)]
    watch, project = watch_with(studio, questions=3, every=2), add_project(studio, 1)
    show_more(studio, None, project)
    with pytest.raises(Refused, match="has no task"):
        join(watch, connection, project, gold_project=str(gold))
    for question, key in zip(
        QuestionSet.objects.get(watches=watch).questions.all(), keys, strict=True
    ):
        question.key = str(key)
        question.save()
    link = join(watch, connection, project, gold_project=str(gold))
    (task,) = lying(studio, link)
    assert studio.tasks[task]["data"] == {"text": "a", "photo": "b"}


def test_used_connection_stays_and_a_stopped_watch_takes_none(studio, connection):
    watch = watch_with(studio)
    join(watch, connection, add_project(studio))
    with pytest.raises(Conflict, match="The watch"):
        connectors.delete_connection(connection)
    begin.stop_watch(watch)
    with pytest.raises(Conflict, match="stopped"):
        connectors.connect_watch(watch, connection, {"project": "1"})
