"""Correction of gold through the pages: health of questions, and the effect of a change."""

import re

import pytest
from django.contrib.auth.models import Permission, User

from selection import engine
from selection.models import Answer, Question, Run
from selection.questions import corrections
from tests.pages import admin_url, lines_of, press, text_of
from tests.worlds import answer_all, crowd, make_questions, make_run, open_of, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    """All four workers have answered all twelve questions; question q3 has the wrong key."""
    question_set = make_questions(12)
    question_set.questions.filter(key="q3").update(accepted=["no"])
    run = make_run(n=4, k=2, question_set=question_set, epsilon=0.01)
    return play(run, crowd(1, good=2, high=1.0, low=0.5))


def miskeyed(run: Run) -> Question:
    return run.question_set.questions.get(key="q3")


def hidden_fields(page: str) -> dict[str, str]:
    areas = re.findall(r'<textarea name="(\w+)" hidden>\n(.*?)</textarea>', page, flags=re.S)
    inputs = re.findall(r'<input type="hidden" name="(compared|kind)"(?: value="([^"]*)")?', page)
    return dict(areas) | dict(inputs)


# -- changing one


def test_change_of_an_asked_question_is_confirmed_with_its_effects(requester, run):
    question = miskeyed(run)
    form = {"prompt": question.prompt, "choices": "", "accepted": "yes", "compared": ""}
    asks = requester.post(admin_url("question_change", question.pk), form)
    text = text_of(asks)
    assert "Accepted no yes" in text
    assert re.search(rf"{run.name} ready for review 4 4", text)
    assert "If the guarantee is no longer achieved, its page says it" in text
    question.refresh_from_db()
    assert question.accepted == ["no"]  # nothing yet
    url = admin_url("question_correct", question.pk)
    fields = hidden_fields(asks.content.decode())
    assert "Give a reason" in text_of(requester.post(url, fields | {"why": " "}))
    page = requester.post(url, fields | {"why": "a slip of the pen"}, follow=True)
    assert f"Graded anew: “{run.name}”" in text_of(page)
    question.refresh_from_db()
    assert question.accepted == ["yes"]
    event = run.events.get(kind="regrade")
    assert (event.who, event.why) == ("requester", "a slip of the pen")
    for answer in Answer.objects.filter(assignment__question=question):
        assert answer.right == (answer.response == "yes")


def test_a_viewer_is_offered_no_correction(requester, run, client):
    page = admin_url("questionset_gold", run.question_set_id) + f"?run={run.pk}"
    assert "Retire question…" in text_of(requester.get(page))
    viewer = User.objects.create_user("viewer", is_staff=True)
    names = ["view_run", "view_question", "view_questionset", "view_answer"]
    viewer.user_permissions.set(Permission.objects.filter(codename__in=names))
    client.force_login(viewer)
    text = text_of(client.get(page))
    assert "Right less often" in text
    assert "Retire question…" not in text


def test_a_bad_change_is_refused_on_the_form(requester, run):
    form = {"prompt": "?", "choices": "only", "accepted": "only", "compared": ""}
    text = text_of(requester.post(admin_url("question_change", miskeyed(run).pk), form))
    assert "There is only one choice" in text
    form |= {"choices": "", "compared": "roughly"}
    text = text_of(requester.post(admin_url("question_change", miskeyed(run).pk), form))
    assert "“roughly” is no way of grading" in text
    assert miskeyed(run).accepted == ["no"]


def test_a_change_that_changes_nothing_says_so(requester, run):
    question = miskeyed(run)
    form = {"prompt": question.prompt, "choices": "", "accepted": "no", "compared": ""}
    page = requester.post(admin_url("question_change", question.pk), form, follow=True)
    assert "Nothing was changed" in text_of(page)


def test_a_question_is_retired_and_restored_with_a_reason(requester, run):
    question = miskeyed(run)
    url = admin_url("question_retire", question.pk)
    assert re.search(rf"{run.name} ready for review 4 4", text_of(requester.get(url)))
    assert "Give a reason" in text_of(requester.post(url, {"why": ""}))
    page = text_of(requester.post(url, {"why": "ambiguous"}, follow=True))
    assert "Retired on" in page
    assert "ambiguous" in page
    assert run.candidates.filter(void=1).count() == 4
    restored = admin_url("question_restore", question.pk)
    requester.post(restored, {"why": "it was fine"}, follow=True)
    assert not run.candidates.filter(void=1).exists()
    second = text_of(requester.post(restored, {"why": "again"}, follow=True))
    assert "is not retired" in second


def test_a_question_that_was_never_dealt_is_saved_at_once(requester):
    question = make_questions(1).questions.get()
    form = {"prompt": "New?", "choices": "", "accepted": "3.5", "compared": "number ±0.1"}
    requester.post(admin_url("question_change", question.pk), form)
    question.refresh_from_db()
    assert question.prompt == "New?"
    assert question.grading == {"number": True, "tolerance": 0.1}
    page = requester.get(admin_url("question_change", question.pk)).content.decode()
    assert 'value="number ±0.1"' in page


def test_a_correction_needs_the_permission_to_change_questions(client, run, django_user_model):
    client.force_login(django_user_model.objects.create_user("reader", is_staff=True))
    for verb in ("correct", "retire", "restore"):
        url = admin_url(f"question_{verb}", miskeyed(run).pk)
        assert client.post(url, {"why": "mine"}).status_code == 403
    assert client.get(admin_url("questionset_gold", run.question_set_id)).status_code == 403


# -- how they do


def test_questions_that_the_likely_best_disagree_with_are_listed_first(requester, run):
    for _ in range(2):  # three of the likely best are needed before they can disagree
        other = make_run(n=4, k=2, question_set=run.question_set, epsilon=0.01)
        play(other, crowd(1, good=2, high=1.0, low=0.5))
    response = requester.get(admin_url("questionset_gold", run.question_set_id))
    text = text_of(response)
    assert response.context["page"].object_list[0].question.key == "q3"
    assert "Most of the likely best answer otherwise." in text
    assert "6 of the likely best say “yes”, 9 of all." in text
    assert "Suspicious 1" in text.replace("  ", " ")


def test_click_accepts_the_answer_of_the_best_workers(requester, run):
    for _ in range(2):
        other = make_run(n=4, k=2, question_set=run.question_set, epsilon=0.01)
        play(other, crowd(1, good=2, high=1.0, low=0.5))
    page = requester.get(admin_url("questionset_gold", run.question_set_id)).content.decode()
    target = re.search(r'href="(/admin/selection/question/\d+/correct/\?accept=yes)"', page)[1]
    asks = requester.get(target)
    assert "Accepted no no | yes" in text_of(asks)
    fields = hidden_fields(asks.content.decode())
    question = miskeyed(run)
    requester.post(admin_url("question_correct", question.pk), fields | {"why": "both are right"})
    assert miskeyed(run).accepted == ["no", "yes"]
    assert not Answer.objects.filter(assignment__question=question, right=False).exists()


def test_gold_health_says_if_no_question_was_asked(requester):
    question_set = make_questions(3)
    text = text_of(requester.get(admin_url("questionset_gold", question_set.pk)))
    assert "No question of this set has been asked yet." in text


def test_gold_health_is_linked_from_run_set_and_question(requester, run):
    gold = admin_url("questionset_gold", run.question_set_id)
    pages = [
        admin_url("run_page", run.pk),
        admin_url("questionset_change", run.question_set_id),
        admin_url("question_change", miskeyed(run).pk),
    ]
    for page in pages:
        assert gold in requester.get(page).content.decode()


def test_gold_health_is_downloaded(requester, run):
    url = admin_url("questionset_gold", run.question_set_id)
    lines = lines_of(requester.get(url, {"csv": "1", "run": run.pk}))
    assert lines[0].startswith("question,accepted,asked,answered,right,right_best")
    assert len(lines) == 13
    (own,) = [line for line in lines if line.startswith("q3,")]
    assert own.startswith("q3,no,4,4,")


def test_many_questions_come_page_by_page_and_can_be_searched(requester):
    run = make_run(n=3, k=1, questions=130, epsilon=0.01, slots=400, slots_per_worker=200)
    engine.advance(run.pk)
    answer_all(run, crowd(1, good=1))
    url = admin_url("questionset_gold", run.question_set_id)
    dealt = open_of(run) or Answer.objects.values_list("assignment__question").distinct()
    first = requester.get(url)
    assert len(first.context["page"].object_list) == 50
    assert f"1 to 50 of {len(dealt)}" in text_of(first)
    last = requester.get(url, {"page": "3"})
    assert f"101 to {len(dealt)} of {len(dealt)}" in text_of(last)
    matching = requester.get(url, {"q": "q12"}).context["page"].object_list
    assert matching
    assert all("q12" in line.question.key for line in matching)
    assert "No question matches" in text_of(requester.get(url, {"q": "nothing"}))


def test_a_retired_question_stands_last_and_is_not_suspicious_any_more(requester, run):
    corrections.retire_question(miskeyed(run), "ada", "ambiguous")
    response = requester.get(admin_url("questionset_gold", run.question_set_id))
    assert response.context["page"].object_list[-1].question.key == "q3"
    assert response.context["flagged"] == 0


def test_second_of_two_choices_replaces_the_key(requester, run):
    run.question_set.questions.update(choices=["yes", "no"])
    for _ in range(2):
        other = make_run(n=4, k=2, question_set=run.question_set, epsilon=0.01)
        play(other, crowd(1, good=2, high=1.0, low=0.5))
    page = requester.get(admin_url("questionset_gold", run.question_set_id)).content.decode()
    assert "Accept this answer too" not in page
    target = re.search(r'href="(/admin/selection/question/\d+/correct/\?instead=yes)"', page)[1]
    assert "Accepted no yes" in text_of(requester.get(target))
    both = target.replace("instead", "accept")
    assert "Every choice is accepted" in text_of(requester.get(both, follow=True))


def test_a_run_that_lost_its_guarantee_is_let_go_on_from_its_page(requester):
    run = make_run(questions=80, epsilon=0.6, slots=60, slots_per_worker=30)
    play(run, crowd(3, good=2, high=1.0, low=0.0))
    assert "Continue the run" not in text_of(requester.get(admin_url("run_page", run.pk)))
    for question in run.question_set.questions.filter(number__lt=60):
        corrections.retire_question(question, "ada", "ambiguous")
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "it used a grading that was corrected later" in text
    assert "Gold questions were corrected after the end" in text
    assert "Continue the run" in text
    Run.objects.filter(pk=run.pk).update(budget=run.count_spent())
    text = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "Continue the run" not in text
    assert "The budget is spent. With a higher budget, the run can continue" in text
    Run.objects.filter(pk=run.pk).update(budget=None)
    assert "The run continues" in press(requester, run, "reopen")
    assert run.status == "running"


def test_the_kind_of_a_question_can_be_corrected_and_its_answers_are_graded_anew(requester, run):
    question = run.question_set.questions.get(key="q0")
    answers = Answer.objects.filter(assignment__question=question)
    answers.filter(response="yes").update(response="a | b")
    form = {"prompt": "Tick.", "choices": "a\nb\nc", "accepted": "b\na", "kind": "multiple"}
    asks = requester.post(admin_url("question_change", question.pk), form | {"compared": ""})
    fields = hidden_fields(asks.content.decode())
    page = requester.post(
        admin_url("question_correct", question.pk), fields | {"why": "two apply"}, follow=True
    )
    assert "Graded anew" in text_of(page)
    question.refresh_from_db()
    assert (question.kind, question.accepted) == ("multiple", ["b", "a"])
    assert {a.response for a in answers.all() if a.right} == {"a | b"}
    form = {"prompt": "Tick.", "choices": "", "accepted": "b", "kind": "multiple", "compared": ""}
    refused = requester.post(admin_url("question_change", question.pk), form)
    assert "needs choices" in text_of(refused)


def test_the_choices_of_the_best_can_be_accepted_instead(requester, run):
    question = run.question_set.questions.get(key="q0")
    question.choices, question.accepted, question.grading = ["a", "b", "c"], ["a"], {"multiple": 1}
    question.save()
    url = admin_url("question_correct", question.pk) + "?instead=a+%7C+b"
    assert hidden_fields(requester.get(url).content.decode())["accepted"] == "a\nb"
