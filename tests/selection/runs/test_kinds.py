"""Workers matched to kinds of task: K for each of several question sets, one kind per worker."""

import csv

import pytest

from selection import engine, reports
from selection.errors import Refused
from selection.models import Run, Skill
from selection.runs import lifecycle
from selection.runs.roster import membership
from selection.runs.settings import drafts
from tests.pages import admin_url, lines_of, run_form, save_run, skill_lines, text_of
from tests.worlds import Crowd, make_pool, make_questions, make_run, play

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

MATCHING = ["clucb-pac", "lil-clucb"]
# Right answers in every ten, by worker: in reading, in counting.
KNOWN = {"w0": (10, 10), "w1": (2, 0), "w2": (0, 6), "w3": (1, 1), "w4": (1, 0), "w5": (0, 0)}
PLENTY = 1500


def kinds_run(start: bool = True, **fields: object) -> Run:
    """Return a run of six workers, one to select for each of two kinds of task."""
    values = {
        "algorithm": "clucb-pac",
        "one_kind_each": True,
        "k": 1,
        "epsilon": 0.15,
        "slots": 400,
        "slots_per_worker": 200,
        "questions": 40,
    } | fields
    run = make_run(start=False, **values)
    Skill.objects.create(run=run, number=1, question_set=make_questions(values["questions"]), k=1)
    if start:
        lifecycle.start_run(run)
    return Run.objects.get(pk=run.pk)


def knowing_crowd() -> Crowd:
    def respond(assignment):
        candidate, number = assignment.candidate, assignment.question.number
        return "yes" if number % 10 < KNOWN[candidate.worker.key][candidate.skill] else "no"

    return respond


def selected_workers(run: Run) -> list[tuple[int, str]]:
    return sorted(
        (line.number, line.worker) for line in reports.worker_standings(run) if line.selected
    )


# -- selected workers


@pytest.mark.parametrize("name", MATCHING)
def test_worker_is_selected_for_one_kind_only(name):
    """The best in both is w0, selected for the kind with the weaker second best."""
    run = play(kinds_run(algorithm=name, questions=PLENTY), knowing_crowd())
    assert run.ending == Run.Ending.GUARANTEE
    assert selected_workers(run) == [(0, "w0"), (1, "w2")]
    accepted = run.candidates.filter(verdict=1).values_list("skill", "worker__key")
    assert sorted(accepted) == selected_workers(run)
    assert all(run.candidates.values_list("decided_why", flat=True))


@pytest.mark.parametrize("name", MATCHING)
def test_a_worker_may_be_selected_for_several_where_that_is_wanted(name):
    run = play(kinds_run(algorithm=name, one_kind_each=False, questions=PLENTY), knowing_crowd())
    assert run.ending == Run.Ending.GUARANTEE
    assert selected_workers(run) == [(0, "w0"), (1, "w0")]


def test_several_of_each_kind_are_selected():
    run = kinds_run(start=False, k=2)
    run.further.update(k=2)
    lifecycle.start_run(run)
    run = play(Run.objects.get(pk=run.pk), knowing_crowd())
    assert run.ending == Run.Ending.QUESTIONS
    found = selected_workers(run)
    assert [skill for skill, _ in found] == [0, 0, 1, 1]
    assert {"w0", "w1", "w2"} < {worker for _, worker in found}
    assert len({worker for _, worker in found}) == 4


def test_early_end_selects_workers_for_one_kind_only():
    run = play(kinds_run(epsilon=0.01), knowing_crowd())
    assert run.ending == Run.Ending.QUESTIONS
    assert selected_workers(run) == [(0, "w0"), (1, "w2")]
    guaranteed = reports.guarantee_of_run(run)
    assert guaranteed.text.endswith("The selected workers are favoured by all answers.")
    assert guaranteed.epsilon is None or "nobody for two of them" in guaranteed.text


def test_leaving_worker_leaves_both_kinds():
    run = kinds_run()
    engine.advance(run.pk)
    membership.withdraw_workers(run, ["w0"])
    run = play(Run.objects.get(pk=run.pk), knowing_crowd())
    assert run.ending == Run.Ending.QUESTIONS
    assert selected_workers(run) == [(0, "w1"), (1, "w2")]


def test_places_are_filled_as_far_as_there_are_workers_left():
    run = kinds_run(start=False, k=2, slots=60)
    run.further.update(k=1)
    lifecycle.start_run(run)
    run = Run.objects.get(pk=run.pk)
    play(run, knowing_crowd(), most=2)
    membership.withdraw_workers(run, ["w1", "w3", "w4", "w5"])
    engine.advance(run.pk)
    run = Run.objects.get(pk=run.pk)
    assert run.ending == Run.Ending.ROSTER
    assert len(selected_workers(run)) == 2
    assert {worker for _, worker in selected_workers(run)} == {"w0", "w2"}
    assert "Only 2 workers were left for 3 places" in reports.guarantee_of_run(run).text


def test_run_rebuilt_from_stored_rows_selects_the_same_workers():
    run = kinds_run(epsilon=0.01)
    for _ in range(3):
        play(run, knowing_crowd(), most=1)
    assert selected_workers(run) == selected_workers(Run.objects.get(pk=run.pk))
    copied = drafts.copy_run(run, "Again", same_seed=True)
    assert copied.one_kind_each
    assert [skill.k for skill in copied.skills] == [1, 1]


# -- messages


def test_the_guarantee_names_the_kinds():
    run = kinds_run()
    one, other = run.skills
    assert reports.guarantee_of_run(run).target == (
        "With probability at least 90%, the 2 selected are on average at most 15 points less "
        f"accurate than the best 2, among all selections of 1 for “{one}” and 1 for "
        f"“{other}”, nobody for two of them."
    )
    free = kinds_run(one_kind_each=False)
    assert "nobody for two" not in reports.guarantee_of_run(free).target


def test_page_files_and_api_name_the_kind_of_selected_workers(requester, client, token):
    run = play(kinds_run(epsilon=0.6), knowing_crowd())
    one, other = map(str, run.skills)
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "Skills, one per worker" in words
    assert f"1 in {one}, 1 in {other}, of 6 workers, each for at most one of these" in words
    assert f"w0 Worker 0 {other} selected for {one}" in words
    rows = list(csv.DictReader(lines_of(requester.get(admin_url("run_export", run.pk, "csv")))))
    assert [row["skill"] for row in rows] == [one, other]
    assert len({row["worker"] for row in rows}) == 2
    document = reports.export_run(run)
    assert document["one_kind_each"]
    assert [skill["k"] for skill in document["skills"]] == [1, 1]
    header = {"Authorization": f"Bearer {token}"}
    assert client.get(f"/api/runs/{run.pk}", headers=header).json()["one_kind_each"]
    sent = client.get(f"/api/runs/{run.pk}/selection", headers=header).json()
    assert [row["skill"] for row in sent["workers"]] == [one, other]


# -- the form


def form(*further: tuple[int, int], **changes: object) -> dict[str, object]:
    settings = {"algorithm": "clucb-pac", "one_kind_each": "True", "skills": skill_lines(further)}
    return run_form(make_pool(6), make_questions(5), **settings | changes)


def test_the_form_takes_it_and_the_draft_says_it(requester):
    other = make_questions(5)
    added = save_run(requester, form((other.pk, 3)), follow=True)
    run = Run.objects.get()
    assert run.one_kind_each
    words = text_of(added)
    assert "each for at most one of these" in words
    assert f"and 3 for “{other}”, nobody for two of them" in words
    changed = form((other.pk, 3), one_kind_each="False") | {"question_set": run.question_set_id}
    requester.post(admin_url("run_change", run.pk), changed | {"pool": run.pool_id})
    run.refresh_from_db()
    assert not run.one_kind_each


@pytest.mark.parametrize(
    ("k", "changes", "why"),
    [
        (5, {}, "Together the question sets want 7 workers, each for at most one kind of task"),
        (
            1,
            {"algorithm": "multi-sar", "budget": 500},
            "Multi-bandit SAR may select a worker for several kinds of task; CLUCB-PAC and "
            "lil'CLUCB select each for at most one.",
        ),
        (1, {"algorithm": "certified"}, "Certified tests one skill"),
        (
            1,
            {"quota_attribute": "language", "quota_lines": "English: 1"},
            "Quotas cannot be kept with several question sets",
        ),
    ],
)
def test_form_refuses_impossible_kinds(requester, k, changes, why):
    given = form((make_questions(5).pk, k), **changes)
    pool = make_pool(6, language=["English", "Spanish"])
    response = save_run(requester, given | {"pool": pool.pk})
    assert text_of(response).count(why) == 2  # in the summary, too
    assert not Run.objects.exists()


def test_setting_has_no_effect_with_one_question_set(requester):
    save_run(requester, form())
    run = Run.objects.get()
    lifecycle.start_run(run)
    assert "nobody for two" not in reports.guarantee_of_run(run).text
    assert engine.advance(run.pk) is not None


def test_starting_refuses_more_places_than_workers():
    run = kinds_run(start=False, k=5)
    run.further.update(k=2)
    with pytest.raises(Refused, match="want 7 workers, each for at most one kind"):
        lifecycle.start_run(run)


def test_open_roster_waits_for_a_worker_for_each_place():
    run = kinds_run(start=False, enrolling=True, k=3, pool=make_pool(4))
    run.further.update(k=3)
    lifecycle.start_run(run)
    run = Run.objects.get(pk=run.pk)
    assert "More than 5 workers must join" in reports.guarantee_of_run(run).text
