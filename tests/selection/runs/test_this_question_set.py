"""Accuracy on this very question set: its size belongs to the guarantee."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from packages.topk.tests.parameters import mostly_slow
from selection import engine, reports
from selection.algorithms import ALGORITHMS
from selection.models import Pool, QuestionSet, Run
from tests.pages import admin_url, confirm, json_of, open_form, run_form, save_run, text_of, upload
from tests.worlds import crowd, make_pool, make_questions, make_run, play
from topk import Goal

pytestmark = pytest.mark.django_db

ACCURACY = "on this question set"
HAVING_IT = [
    name for name, kind in ALGORITHMS.items() if kind.says_accuracy and not kind.common_order
]
OF_ALL = (
    "the 2 selected are on average at most 20 points less accurate than the best 2, in accuracy on "
    "this set of 60 questions"
)
OF_EACH = (
    "at most 20 points less accurate than the 2nd best, in accuracy on this set of 60 questions"
)
OF_MARK = "have an accuracy on this set of 60 questions below 70%, the pass mark of 90% less ε"
OF_EACH_MARK = "each selected worker has an accuracy on this set of 60 questions of at least 70%"
SENTENCES = {Goal.AGGREGATE: OF_ALL, Goal.EXPLORE_K: OF_EACH, Goal.MARK: OF_MARK}


def sentence_of(algorithm: str) -> str:
    guarantee = ALGORITHMS[algorithm].guarantee
    if guarantee.goal == Goal.MARK and not guarantee.mean_share:
        return OF_EACH_MARK
    return SENTENCES[guarantee.goal]


@pytest.fixture
def owner(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("owner"))
    return client


def form(pool: Pool, question_set: int, **changes: object) -> dict[str, object]:
    asked = QuestionSet.objects.get(pk=question_set)
    settings = {"algorithm": "certified", "option_accuracy": ACCURACY} | changes
    return run_form(pool, asked, **settings)


@pytest.mark.parametrize("questions", [0, 50])
def test_a_run_about_a_question_set_can_be_added(owner, questions):
    asked = make_questions(questions)
    save_run(owner, form(make_pool(6), question_set=asked.pk))
    assert Run.objects.get().options == {"accuracy": ACCURACY}


def test_the_page_of_a_draft_with_quotas_opens(owner):
    run = make_run(
        start=False,
        pool=make_pool(6, language=["English", "French"]),
        algorithm="certified",
        options={"accuracy": ACCURACY},
        quotas={"attribute": "language", "limits": {"English": [1, None]}},
    )
    page = owner.get(reverse("admin:selection_run_page", args=[run.pk]))
    assert "With probability at least 90%" in page.content.decode()


def test_a_run_that_kept_its_guarantee_can_be_exported():
    run = play(make_run(algorithm="certified", options={"accuracy": ACCURACY}), crowd(1, 2))
    assert run.ended_by_guarantee
    assert reports.export_run(run)["certified"] is True


# -- on every way, to the result


def answers_csv(workers: int, questions: int, few: int = 0) -> str:
    """Return a file of past answers; w0 and w1 are right, the last ``few`` answered half of it."""
    rows = [
        f"w{i},q{j},{'yes' if i < 2 or (i + j) % 3 == 0 else 'no'}"
        for i in range(workers)
        for j in range(questions if i < workers - few else questions // 2)
    ]
    return "\n".join(["worker,question,response", *rows])


def run_of_past_answers(owner: Client, algorithm: str, few: int = 0) -> Run:
    """Return a run made by the form, started by its button, fed by an import, and ended."""
    asked = make_questions(60)
    filled = form(
        make_pool(6), question_set=asked.pk, algorithm=algorithm, recorded_only="on", slots=60
    )
    if ALGORITHMS[algorithm].takes_mark:
        filled["pass_mark"] = 0.9
    save_run(owner, filled)
    run = Run.objects.get()
    owner.post(reverse("admin:selection_run_verb", args=[run.pk, "start"]))
    confirm(owner, upload(owner, admin_url("run_import", run.pk), answers_csv(6, 60, few)))
    while engine.advance(run.pk):
        pass
    run.refresh_from_db()
    return run


@pytest.mark.parametrize("algorithm", mostly_slow(HAVING_IT, ("certified", "mark-all")))
def test_past_answers_lead_from_the_form_to_page_and_files(owner, algorithm):
    run = run_of_past_answers(owner, algorithm)
    assert run.ended_by_guarantee
    assert run.candidates.filter(pulls=60).count() < 6, "it would need no algorithm"
    page = text_of(owner.get(admin_url("run_page", run.pk)))
    document = json_of(owner.get(admin_url("run_export", run.pk, "json")))
    sentence = sentence_of(algorithm)
    assert sentence in page
    assert sentence in document["guarantee"]
    assert (document["certified"], document["options"]) == (True, {"accuracy": ACCURACY})
    assert {row["worker"] for row in document["workers"] if row["selected"]} == {"w0", "w1"}
    assert document["warnings"] == []


@pytest.mark.parametrize("algorithm", mostly_slow(HAVING_IT, ("certified", "mark-all")))
def test_a_program_reads_the_same_result(owner, token, algorithm):
    run = run_of_past_answers(owner, algorithm)
    program = Client(headers={"authorization": f"Bearer {token}"})
    shown = program.get(f"/api/runs/{run.pk}").json()
    selected = program.get(f"/api/runs/{run.pk}/selection").json()
    assert sentence_of(algorithm) in shown["guarantee"]
    assert shown["options"] == {"accuracy": ACCURACY}
    assert shown["epsilon_reached"] == 0.2
    everything = json_of(owner.get(admin_url("run_export", run.pk, "json")))
    assert everything.keys() == selected.keys() - {"taken_out_by_hand"}
    assert everything["guarantee"] == selected["guarantee"]


@pytest.mark.parametrize("algorithm", mostly_slow(HAVING_IT, ("certified", "mark-all")))
def test_self_chosen_questions_cause_a_warning_on_all_surfaces(owner, token, algorithm):
    run = run_of_past_answers(owner, algorithm, few=2)
    words = "do not cover all 60 questions for every worker. If workers chose their questions"
    program = Client(headers={"authorization": f"Bearer {token}"})
    assert words in text_of(owner.get(admin_url("run_page", run.pk)))
    assert words in program.get(f"/api/runs/{run.pk}").json()["warnings"][0]
    assert words in json_of(owner.get(admin_url("run_export", run.pk, "json")))["warnings"][0]


def test_accuracy_on_questions_like_these_causes_no_warning():
    run = make_run(algorithm="certified", recorded_only=True)
    Run.objects.filter(pk=run.pk).update(has_recorded=True)
    run.refresh_from_db()
    assert reports.model_fit(run).warnings == ()
    run.options["accuracy"] = ACCURACY
    assert len(reports.model_fit(run).warnings) == 1


def test_a_set_too_large_for_it_is_refused_at_the_field(owner):
    asked = make_questions(1001)
    page = save_run(owner, form(make_pool(6), question_set=asked.pk))
    assert not Run.objects.exists()
    assert "can be guaranteed for at most 1,000 questions, and this one has 1,001" in text_of(page)


def test_the_form_recommends_it_where_gold_is_short(owner):
    page = text_of(open_form(owner))
    assert "Recommended if gold questions are few and only these questions matter" in page
