"""Several skills on one budget: question sets, each with its own K, in one run."""

import numpy as np
import pytest

from selection import engine, reports
from selection.answers import recording
from selection.errors import NotFound, Refused
from selection.imports import catalog, validate_answers
from selection.imports.row_parsers import AnswerRow
from selection.models import Assignment, QuestionSet, Run, Skill
from selection.runs import lifecycle
from selection.worker import page
from tests.pages import admin_url, lines_of, run_form, save_run, skill_lines, text_of
from tests.worlds import Crowd, answer_all, make_pool, make_questions, make_run, open_of, play
from topk import MULTI_SELECTORS

pytestmark = pytest.mark.django_db


def make_skills_run(start: bool = True, **fields: object) -> Run:
    """Return a run of six workers, two to select in the first skill and one in the second."""
    values = {"algorithm": "multi-sar", "budget": 240, "questions": 100, "slots": 60}
    run = make_run(start=False, **values | fields)
    Skill.objects.create(run=run, number=1, question_set=make_questions(80), k=1)
    if start:
        lifecycle.start_run(run)
    return Run.objects.get(pk=run.pk)


def two_sided_crowd() -> Crowd:
    """Return a crowd in which w0 and w1 know the first skill, w5 the second."""
    good = {0: {"w0", "w1"}, 1: {"w5"}}

    def respond(assignment: Assignment) -> str:
        candidate = assignment.candidate
        worker, number = candidate.worker.key, assignment.question.number
        rng = np.random.default_rng([candidate.skill, int(worker[1:]), number])
        return "yes" if rng.random() < (0.95 if worker in good[candidate.skill] else 0.3) else "no"

    return respond


# -- the engine


@pytest.mark.parametrize("name", sorted(MULTI_SELECTORS))
def test_run_selects_the_best_of_each_skill_within_one_budget(name):
    run = play(make_skills_run(algorithm=name), two_sided_crowd())
    assert (run.status, run.ending) == ("ended", "budget")
    assert Assignment.objects.filter(candidate__run=run).count() <= 240
    accepted = run.candidates.filter(verdict=1).values_list("skill", "worker__key")
    assert set(accepted) == {(0, "w0"), (0, "w1"), (1, "w5")}
    assert not run.candidates.filter(verdict=0).exists()
    assert all(run.candidates.values_list("decided_why", flat=True))


def test_skills_ask_their_own_questions_without_repetition():
    run = play(make_skills_run(), two_sided_crowd())
    sets = {skill.number: skill.question_set_id for skill in run.skills}
    for candidate in run.candidates.all():
        asked = list(candidate.assignments.values_list("question", "question__question_set"))
        assert len(asked) == len({question for question, _ in asked})
        assert {question_set for _, question_set in asked} <= {sets[candidate.skill]}


def test_a_worker_holds_no_more_than_allowed_in_all_skills_together():
    run = make_skills_run(slots_per_worker=3)
    engine.advance(run.pk)
    held: dict[str, int] = {}
    for assignment in open_of(run):
        key = assignment.candidate.worker.key
        held[key] = held.get(key, 0) + 1
    assert set(held.values()) == {3}


def test_arms_are_numbered_skill_by_skill_and_at_random_within():
    run = make_skills_run()
    arms = list(run.candidates.order_by("arm").values_list("arm", "skill"))
    assert arms == [(arm, arm // 6) for arm in range(12)]
    orders = [
        list(run.candidates.filter(skill=s).order_by("arm").values_list("worker__key", flat=True))
        for s in (0, 1)
    ]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == [f"w{i}" for i in range(6)]


def test_the_first_skill_of_several_is_numbered_like_the_only_one():
    one, several = make_run(algorithm="sar", budget=240), make_skills_run()
    orders = [
        list(run.candidates.filter(skill=0).order_by("arm").values_list("worker__key", flat=True))
        for run in (one, several)
    ]
    assert orders[0] == orders[1]


def test_skills_are_numbered_anew_without_a_gap():
    run = make_skills_run(start=False)
    run.further.update(number=4)
    lifecycle.start_run(run)
    assert set(run.candidates.values_list("skill", flat=True)) == {0, 1}
    assert engine.advance(run.pk) is not None


# -- refusals


def test_starting_refuses_skills_that_do_not_fit():
    empty = make_skills_run(start=False)
    Skill.objects.update(question_set=make_questions(0))
    with pytest.raises(Refused, match="is empty: import gold questions first"):
        lifecycle.start_run(empty)
    many = make_skills_run(start=False)
    many.further.update(k=6)
    name = many.further.get().question_set.name
    why = rf"In the skill “{name}”: K must be at least 1 and less than the number of workers \(6\)"
    with pytest.raises(Refused, match=why):
        lifecycle.start_run(many)
    poor = make_skills_run(start=False, budget=12)
    with pytest.raises(Refused, match="a budget above 12: more than one answer per worker"):
        lifecycle.start_run(poor)
    other = make_skills_run(start=False, algorithm="sar")
    with pytest.raises(Refused, match="SAR tests one skill"):
        lifecycle.start_run(other)
    alone = make_run(start=False, algorithm="multi-sar", budget=100)
    with pytest.raises(Refused, match="add at least one more question set"):
        lifecycle.start_run(alone)


def test_a_question_of_a_further_skill_that_was_asked_cannot_be_changed():
    run = make_skills_run()
    engine.advance(run.pk)
    asked = Assignment.objects.filter(candidate__run=run, candidate__skill=1).first().question
    assert asked.key in catalog.question_keys_asked(run.skills[1].question_set)


# -- the worker's page


def test_a_worker_s_page_shows_the_questions_of_all_skills():
    run = make_skills_run()
    for number, skill in enumerate(run.skills):
        skill.question_set.instructions = f"Skill {number}."
        skill.question_set.save()
    engine.advance(run.pk)
    link = run.candidates.get(skill=0, worker__key="w0").pk
    seen = set()
    while (found := page.visit_page(link)) and found.question:
        seen.add(found.instructions)
        recording.record_answer(found.question.assignment, "yes", link)
    assert seen == {"<p>Skill 0.</p>\n", "<p>Skill 1.</p>\n"}
    assert found.answered == 3


def test_a_link_is_no_key_to_another_worker_s_questions():
    run = make_skills_run()
    engine.advance(run.pk)
    link = run.candidates.get(skill=0, worker__key="w0").pk
    other = next(one for one in open_of(run) if one.candidate.worker.key == "w1")
    with pytest.raises(NotFound):
        recording.record_answer(other.pk, "yes", link)


# -- answers made elsewhere


def test_imported_answers_say_their_skill_where_they_must():
    run = make_skills_run()
    name = str(run.skills[1])
    rows = [
        AnswerRow(1, "w0", "q1", "yes", name),
        AnswerRow(2, "w0", "q1", "yes"),
        AnswerRow(3, "w0", "q90", "yes"),
        AnswerRow(4, "w0", "q90", "yes", name),
        AnswerRow(5, "w0", "q1", "yes", "Juggling"),
    ]
    sorting = validate_answers.validate_answers(run, rows)
    assert [record.candidate.skill for record in sorting.recorded] == [1, 0]
    assert [problem.why for problem in sorting.problems] == [
        "Several skills have a question “q1”: add a column “skill”.",
        f"There is no question “q90” in the skill “{name}”.",
        "There is no skill “Juggling” in this run.",
    ]


def test_open_questions_come_back_with_their_skill():
    run = make_skills_run()
    engine.advance(run.pk)
    table = reports.open_table(run)
    rows = [
        AnswerRow(i, row["worker"], row["question"], "yes", row["skill"])
        for i, row in enumerate(table)
    ]
    assert (
        len(validate_answers.validate_answers(run, rows).answers) == len(rows) == len(open_of(run))
    )


# -- pages and export


def test_the_export_ranks_each_skill(requester):
    run = play(make_skills_run(), two_sided_crowd())
    document = reports.export_run(run)
    names = [str(skill) for skill in run.skills]
    chosen = [(row["skill"], row["rank"]) for row in document["workers"]]
    assert chosen == [(names[0], 1), (names[0], 2), (names[1], 1)]
    assert [skill["k"] for skill in document["skills"]] == [2, 1]
    assert sum(skill["answers_used"] for skill in document["skills"]) == document["answers_used"]
    header, *rows = lines_of(requester.get(admin_url("run_export", run.pk, "csv")))
    assert header.split(",")[9] == "skill"
    assert len(rows) == 3


def test_the_page_shows_each_skill(requester):
    run = play(make_skills_run(), two_sided_crowd())
    url = admin_url("run_page", run.pk)
    words = text_of(requester.get(url))
    first, second = map(str, run.skills)
    assert f"{first} 2 2 4 0" in words
    assert f"{second} 1 1 5 0" in words
    table = requester.get(url, {"skill": "1"}).context["table"]
    assert [row.place for row in table.rows] == [1, None, None, None, None, None]
    assert {row.line.skill for row in table.rows} == {second}


def test_workers_have_one_link_for_all_skills(requester):
    run = make_skills_run()
    assert len(lines_of(requester.get(admin_url("run_links_csv", run.pk)))) == 1 + 6


def test_the_answers_file_names_the_skill(requester):
    run = make_skills_run()
    engine.advance(run.pk)
    answer_all(run, two_sided_crowd())
    header, *rows = lines_of(requester.get(admin_url("run_export", run.pk, "answers")))
    assert header.endswith(",skill")
    assert {row.rsplit(",", 1)[1] for row in rows} == {str(skill) for skill in run.skills}


def test_the_api_names_the_skills(client, token):
    run = make_skills_run()
    engine.advance(run.pk)
    headers = {"Authorization": f"Bearer {token}"}
    shown = client.get(f"/api/runs/{run.pk}", headers=headers).json()
    assert [skill["k"] for skill in shown["skills"]] == [2, 1]
    out = client.get(f"/api/runs/{run.pk}/assignments?worker=w0", headers=headers).json()
    assert {row["skill"] for row in out} == {str(skill) for skill in run.skills}


# -- the form


def skills_form(*further: tuple[int, int], **changes: object) -> dict[str, object]:
    settings = {"algorithm": "multi-sar", "budget": 500, "skills": skill_lines(further)} | changes
    return run_form(make_pool(6), make_questions(5), **settings)


def test_a_draft_takes_further_skills(requester):
    one, two = make_questions(5), make_questions(5)
    form = skills_form((one.pk, 1), (two.pk, 3))
    words = text_of(save_run(requester, form, follow=True))
    run = Run.objects.get()
    assert [(skill.number, skill.k) for skill in run.skills] == [(0, 2), (1, 1), (2, 3)]
    assert f"1 in {one}, 3 in {two}, of 6 workers" in words
    assert "Start the run" in words


@pytest.mark.parametrize(
    ("k", "changes", "why"),
    [
        (6, {}, "K must be at least 1 and less than the number of workers (6), but it is 6."),
        (
            1,
            {"algorithm": "sar"},
            "SAR tests one skill; CLUCB-PAC, lil'CLUCB, Multi-bandit SAR and Multi-",
        ),
        (1, {"budget": 11}, "needs a budget above 12: more than one answer per worker and skill"),
        (None, {}, "Multi-bandit SAR is for several skills: add at least one more question set."),
    ],
)
def test_the_form_refuses_skills_that_do_not_fit(requester, k, changes, why):
    further = [(make_questions(5).pk, k)] if k else []
    response = save_run(requester, skills_form(*further, **changes))
    assert text_of(response).count(why) == 2  # in the summary, too
    assert not Run.objects.exists()


def test_the_form_refuses_a_question_set_that_is_there_already(requester):
    form = skills_form()
    first = QuestionSet.objects.get(pk=form["question_set"])
    words = text_of(save_run(requester, form | {"skills": f"{first}: 1"}))
    assert f"The run has the question set “{first}” already." in words


@pytest.mark.parametrize("line", ["Audio", "Audio: 3", "questions: ³", ": 1"])
def test_the_form_refuses_a_skill_that_it_cannot_read(requester, line):
    words = text_of(save_run(requester, skills_form(skills=line)))
    assert f"Write a question set and a number, not “{line}”." in words
