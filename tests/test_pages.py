"""The requester's pages: what she sees, and that each button does what it says."""

import html
import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from selection import engine, intake
from selection.models import (
    Answer,
    ApiToken,
    Assignment,
    Candidate,
    Pool,
    Question,
    QuestionSet,
    RecordedAnswer,
    Run,
    Upload,
)
from selection.setup import runs
from tests.worlds import crowd, make_pool, make_questions, make_run, open_of, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def requester(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("requester"))
    return client


def admin_url(name: str, *args: object) -> str:
    return reverse(f"admin:selection_{name}", args=args)


def text_of(response) -> str:
    """The page's words, without markup, with single spaces."""
    page = re.sub(r"<(script|style|svg).*?</\1>", " ", response.content.decode(), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def run_form(pool: Pool, question_set: QuestionSet, **changes: object) -> dict[str, object]:
    return {
        "name": "Spring",
        "pool": pool.pk,
        "question_set": question_set.pk,
        "k": 2,
        "algorithm": "lucb",
        "epsilon": 0.2,
        "delta": 0.1,
        "budget": "",
        "slots": 10,
        "slots_per_worker": 2,
        "minutes": 30,
        "seed": 11,
        "further-TOTAL_FORMS": 0,
        "further-INITIAL_FORMS": 0,
    } | changes


# -- the first page


def test_it_tells_the_first_three_steps_when_there_is_nothing(requester):
    words = text_of(requester.get(reverse("admin:index")))
    assert "Create a pool and import your workers" in words
    assert "Create a question set and import gold questions" in words
    assert "Create a run and start it" in words


def test_it_shows_the_runs_that_go_on(requester):
    run = make_run()
    words = text_of(requester.get(reverse("admin:index")))
    assert run.name in words
    assert "6 undecided" in words
    assert "Three steps" not in words


def test_every_page_asks_for_a_login(client):
    run = make_run()
    for url in (reverse("admin:index"), admin_url("run_page", run.pk), admin_url("pool_import", 1)):
        response = client.get(url)
        assert response.status_code == 302
        assert response["Location"].startswith("/admin/login/")


def test_it_keeps_a_clerk_without_permission_out_of_runs(client):
    run = make_run()
    client.force_login(User.objects.create_user("clerk", is_staff=True))
    assert client.get(admin_url("run_page", run.pk)).status_code == 403
    assert client.post(admin_url("run_verb", run.pk, "stop")).status_code == 403
    assert client.get(admin_url("run_selected_csv", run.pk)).status_code == 403
    assert client.post(admin_url("run_import", run.pk), {"pasted": "x"}).status_code == 403


@pytest.mark.parametrize(
    "name", ["pool", "worker", "questionset", "question", "run", "answer", "apitoken"]
)
def test_every_list_opens(requester, name):
    play(make_run(), crowd(1, 2), most=2)
    assert requester.get(admin_url(f"{name}_changelist")).status_code == 200


# -- imports


def upload(requester, url: str, text: str | bytes, follow: bool = True):
    body = text.encode() if isinstance(text, str) else text
    return requester.post(url, {"file": SimpleUploadedFile("file.csv", body)}, follow=follow)


def confirm(requester, preview):
    return requester.post(preview.request["PATH_INFO"], follow=True)


def test_it_leads_from_a_new_pool_to_its_import(requester):
    response = requester.post(admin_url("pool_add"), {"name": "Crowd"})
    assert response["Location"] == admin_url("pool_import", Pool.objects.get().pk)


def test_it_imports_workers_after_a_preview(requester):
    pool = make_pool(1)
    preview = upload(
        requester,
        admin_url("pool_import", pool.pk),
        "\ufeffworker,name,country\r\nada,Ada,UK\r\nw0,New name,\r\n,nobody,\r\n",
    )
    words = text_of(preview)
    assert "1 new worker would join" in words
    assert "and 1 who are in it already" in words
    assert "1 row would not be taken" in words
    assert "4 The column “worker” is empty." in words
    assert pool.workers.count() == 1  # nothing yet
    done = text_of(confirm(requester, preview))
    assert "2 workers imported." in done
    assert "1 line not taken." in done
    assert pool.workers.get(key="ada").attributes == {"country": "UK"}
    assert pool.workers.get(key="w0").name == "New name"
    assert not Upload.objects.exists()


def test_it_imports_pasted_questions(requester):
    question_set = make_questions(0)
    pasted = "question,prompt,answer,choices\nq1,A bird?,yes,yes|no\nq2,Capital?,Paris|paris city,"
    preview = requester.post(
        admin_url("questionset_import", question_set.pk), {"pasted": pasted}, follow=True
    )
    assert "2 new questions would join" in text_of(preview)
    confirm(requester, preview)
    assert question_set.questions.get(key="q2").accepted == ["Paris", "paris city"]
    assert question_set.questions.get(key="q1").choices == ["yes", "no"]


def test_it_names_questions_that_were_asked_and_leaves_them(requester):
    run = make_run(questions=20)
    engine.advance(run.pk)
    asked = open_of(run)[0].question
    preview = upload(
        requester,
        admin_url("questionset_import", run.question_set_id),
        f"question,prompt,answer\n{asked.key},Other,no\n",
    )
    assert "has been asked in a run and cannot be changed" in text_of(preview)
    assert "nothing in this file to import" in text_of(preview)


def test_it_previews_which_answers_count_and_which_wait(requester):
    run = make_run(questions=50)
    engine.advance(run.pk)
    out = open_of(run)[0]
    keys = {a.question.key for a in open_of(run) if a.candidate_id == out.candidate_id}
    other = next(q.key for q in run.question_set.questions.all() if q.key not in keys)
    worker = out.candidate.worker.key
    text = (
        "worker,question,response\n"
        f"{worker},{out.question.key},yes\n"
        f"{worker},{other},no\n"
        f"stranger,{other},no\n"
    )
    preview = upload(requester, admin_url("run_import", run.pk), text)
    words = text_of(preview)
    assert "1 answer to questions that are out now would count at once" in words
    assert "1 answer would wait until the algorithm asks" in words
    assert "4 There is no worker “stranger” in this run." in words
    assert not Answer.objects.exists()
    assert not RecordedAnswer.objects.exists()
    confirm(requester, preview)
    assert Answer.objects.get().assignment_id == out.pk
    assert RecordedAnswer.objects.get().question.key == other


def test_confirming_twice_imports_once(requester):
    pool = make_pool(0)
    preview = upload(requester, admin_url("pool_import", pool.pk), "worker\nada\n")
    confirm(requester, preview)
    again = text_of(confirm(requester, preview))
    assert "imported or put aside already" in again
    assert pool.workers.count() == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name\nAda\n", "there is no column “worker”"),
        ("", "is empty"),
        (b"worker\n\xff\xfe\xfa\n", "this is not UTF-8 text"),
        (b"worker\nab\0c\n", "NUL character"),
    ],
)
def test_it_refuses_a_bad_file_in_one_sentence_on_the_form(requester, text, why):
    response = upload(requester, admin_url("pool_import", make_pool(0).pk), text)
    assert response.request["PATH_INFO"].endswith("/import/")
    assert text_of(response).count(why) == 1
    assert not Upload.objects.exists()


def test_it_asks_for_a_file_or_a_text(requester):
    response = requester.post(admin_url("pool_import", make_pool(0).pk), {"pasted": " "})
    assert "Choose a file or paste its lines" in text_of(response)


def test_it_refuses_answers_for_a_run_that_has_not_begun(requester):
    run = make_run(start=False)
    response = upload(
        requester, admin_url("run_import", run.pk), "worker,question,response\nw0,q0,yes\n"
    )
    assert "answers can be imported while it runs" in text_of(response)


def test_the_bad_rows_can_be_downloaded(requester):
    preview = upload(requester, admin_url("pool_import", make_pool(0).pk), "worker\nada\nada\n")
    file = requester.get(preview.request["PATH_INFO"] + "?problems=csv")
    assert '3,"This worker is there already, in line 2."' in file.getvalue().decode()


def test_a_file_for_one_pool_cannot_be_taken_into_another(requester):
    pool, other = make_pool(0), make_pool(0)
    preview = upload(requester, admin_url("pool_import", pool.pk), "worker\nada\n")
    moved = preview.request["PATH_INFO"].replace(f"/{pool.pk}/", f"/{other.pk}/")
    assert requester.get(moved).status_code == 404
    requester.post(moved)
    assert other.workers.count() == 0


# -- a run's form


def test_it_creates_a_draft_and_shows_its_page(requester):
    pool, question_set = make_pool(5), make_questions(5)
    response = requester.post(admin_url("run_add"), run_form(pool, question_set), follow=True)
    run = Run.objects.get()
    assert response.request["PATH_INFO"] == admin_url("run_page", run.pk)
    assert (run.status, run.seed, run.budget) == ("draft", 11, None)
    assert "within 0.2 of the 2nd best" in text_of(response)


def test_it_offers_a_random_seed(requester):
    pages = [requester.get(admin_url("run_add")).content.decode() for _ in range(2)]
    seeds = [int(re.search(r'name="seed" value="(\d+)"', page)[1]) for page in pages]
    assert seeds[0] != seeds[1]
    assert max(seeds) < 2**31


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"k": 5}, "K must be at least 1 and less than the number of workers (5), but it is 5."),
        ({"k": 0}, "K must be at least 1 and less than the number of workers (5), but it is 0."),
        ({"k": -3}, "but it is -3."),
        ({"epsilon": 1}, "Epsilon must be at least 0 and below 1, but it is 1.0."),
        ({"epsilon": -0.1}, "Epsilon must be at least 0 and below 1, but it is -0.1."),
        ({"delta": 0}, "Delta must be above 0 and below 1, but it is 0.0."),
        ({"delta": "nan"}, "Enter a number."),
        ({"budget": 0}, "The budget must be at least 1 answer, but it is 0."),
        ({"slots": 0}, "greater than or equal to 1"),
    ],
)
def test_it_refuses_a_bad_setting_in_one_sentence(requester, changes, why):
    pool, question_set = make_pool(5), make_questions(5)
    form = run_form(pool, question_set, **changes)
    response = requester.post(admin_url("run_add"), form)
    assert text_of(response).count(why) == 1
    assert not Run.objects.exists()


def test_it_refuses_a_pool_of_one(requester):
    response = requester.post(admin_url("run_add"), run_form(make_pool(1), make_questions(5), k=1))
    assert "There must be at least 2 workers to choose from, not 1." in text_of(response)


def test_it_promises_for_the_numbers_in_the_form(requester):
    asked = {"pool": make_pool(5).pk, "k": 3, "epsilon": 0.25, "delta": 0.2}
    answer = requester.get(admin_url("run_promises"), asked).json()["html"]
    assert "With probability at least 0.8" in answer
    assert "within 0.25 of the 3rd best" in answer
    refused = requester.get(admin_url("run_promises"), asked | {"k": 9}).json()["html"]
    assert "K must be at least 1" in refused
    assert requester.get(admin_url("run_promises"), {"pool": "x"}).status_code == 200


def test_a_run_that_has_begun_cannot_be_changed(requester):
    run = make_run()
    form = run_form(run.pool, run.question_set, name="Other")
    response = requester.post(admin_url("run_change", run.pk), form, follow=True)
    assert "cannot be changed" in text_of(response)
    run.refresh_from_db()
    assert (run.name != "Other", run.status) == (True, "running")


# -- a run's buttons


def press(requester, run: Run, verb: str) -> str:
    response = requester.post(admin_url("run_verb", run.pk, verb), follow=True)
    run.refresh_from_db()
    return text_of(response)


def test_it_starts_pauses_resumes_and_stops(requester):
    run = make_run(start=False)
    for verb, status in [
        ("start", "running"),
        ("pause", "paused"),
        ("resume", "running"),
        ("stop", "ended"),
    ]:
        press(requester, run, verb)
        assert run.status == status
    assert run.ending == "stopped"


def test_it_says_why_a_run_cannot_start(requester):
    run = make_run(start=False, questions=0)
    assert "is empty: import gold questions first" in press(requester, run, "start")
    assert run.status == "draft"


def test_a_refusal_becomes_a_message(requester):
    run = make_run()
    assert "only a run that is draft can do that" in press(requester, run, "start")


def test_it_asks_before_it_stops(requester):
    run = make_run()
    page = text_of(requester.get(admin_url("run_verb", run.pk, "stop")))
    assert "for good?" in page
    run.refresh_from_db()
    assert run.status == "running"


def test_buttons_need_a_post_and_a_known_verb(requester):
    run = make_run()
    requester.get(admin_url("run_verb", run.pk, "pause"))
    run.refresh_from_db()
    assert run.status == "running"
    assert requester.post(admin_url("run_verb", run.pk, "explode")).status_code == 404


# -- a run's page


def test_it_shows_how_a_run_stands(requester):
    run = make_run()
    play(run, crowd(1, 2), most=3)
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "answers counted" in words
    assert "has to fall to 0.300" in words
    assert "Assumes that a worker's answers are independent" in words
    assert "within 0.3 of the 2nd best" in words
    assert "w0 Worker 0" in words


def test_it_says_why_a_run_ended_and_shows_the_selected_first(requester):
    run = make_run(questions=3000)
    play(run, crowd(1, 2))
    run.refresh_from_db()
    response = requester.get(admin_url("run_page", run.pk))
    words = text_of(response)
    assert run.ending == "promise"
    assert "The run ended because the promise holds." in words
    chosen = [row.line.verdict for row in response.context["table"].rows]
    assert chosen == ["accepted"] * 2 + ["rejected"] * 4
    assert "step" in words


def test_a_run_that_was_stopped_does_not_claim_its_promise(requester):
    run = make_run()
    play(run, crowd(1, 2), most=2)
    runs.stop(run)
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "it was stopped by hand" in words
    assert "Not certified" in words


def test_the_fragment_is_only_what_changes(requester):
    run = make_run()
    response = requester.get(admin_url("run_page", run.pk), {"fragment": "1"})
    page = response.content.decode()
    assert 'id="live-top" data-part data-live' in page
    assert "<html" not in page
    assert 'type="search"' not in page
    runs.pause(run)
    paused = requester.get(admin_url("run_page", run.pk), {"fragment": "1"}).content.decode()
    assert "data-live" not in paused


def test_it_pages_filters_searches_and_sorts_many_workers(requester):
    run = make_run(n=230, questions=5, k=5)
    url = admin_url("run_page", run.pk)

    def workers(**asked: object) -> list[str]:
        rows = requester.get(url, asked).context["table"].rows
        return [row.line.worker for row in rows]

    assert len(workers()) == 100
    assert len(workers(page=3)) == 30
    assert workers(page="nonsense", sort="nonsense") == workers()
    assert "w22" in workers(q="W22")
    assert workers(q="Worker 229") == ["w229"]
    assert workers(sort="worker")[:3] == ["w0", "w1", "w10"]
    assert workers(sort="-worker")[0] == "w99"
    assert len(workers(verdict="undecided", page=3)) == 30
    assert workers(verdict="accepted") == []


def test_the_page_takes_few_queries_however_many_workers(requester, django_assert_max_num_queries):
    run = make_run(n=150, questions=5)
    with django_assert_max_num_queries(20):
        requester.get(admin_url("run_page", run.pk))


def test_names_are_never_taken_for_markup(requester):
    run = make_run()
    worker = run.candidates.first().worker
    worker.name = "<script>alert(1)</script>"
    worker.save()
    page = requester.get(admin_url("run_page", run.pk)).content.decode()
    assert "<script>alert(1)" not in page


# -- downloads


def lines_of(response) -> list[str]:
    return response.getvalue().decode("utf-8-sig").splitlines()


def test_it_exports_the_selected_as_csv_and_json(requester):
    run = make_run(questions=3000)
    play(run, crowd(1, 2))
    table = requester.get(admin_url("run_selected_csv", run.pk))
    header, *rows = lines_of(table)
    assert header.startswith("rank,worker,name,verdict,answers,right,mean,lower,upper")
    assert len(rows) == 2
    assert "attachment" in table["Content-Disposition"]
    document = json.loads(requester.get(admin_url("run_selected_json", run.pk)).content)
    assert [row["rank"] for row in document["workers"]] == [1, 2]
    assert document["certified"] is True


def test_it_gives_every_worker_a_link_of_their_own(requester, client):
    run = make_run()
    header, *rows = lines_of(requester.get(admin_url("run_links_csv", run.pk)))
    assert header == "worker,name,link"
    links = [row.rsplit(",", 1)[1] for row in rows]
    assert len(set(links)) == 6
    path = links[0][links[0].index("/work/") :]
    assert client.get(path).status_code == 200


def test_open_questions_can_be_answered_elsewhere_and_come_back(requester):
    run = make_run()
    engine.advance(run.pk)
    header, *rows = lines_of(requester.get(admin_url("run_open_csv", run.pk)))
    assert header == "worker,question,prompt,choices,assignment,due"
    assert len(rows) == len(open_of(run)) > 0
    answered = "\n".join([header + ",response", *(row + ",yes" for row in rows)])
    confirm(requester, upload(requester, admin_url("run_import", run.pk), answered))
    assert Answer.objects.count() == len(rows)


def test_overdue_questions_are_not_handed_on(requester):
    run = make_run()
    engine.advance(run.pk)
    Assignment.objects.update(due=timezone.now() - timedelta(minutes=1))
    assert len(lines_of(requester.get(admin_url("run_open_csv", run.pk)))) == 1


def test_every_answer_of_a_run_can_be_downloaded(requester):
    run = make_run()
    play(run, crowd(1, 2), most=2)
    header, *rows = lines_of(requester.get(admin_url("run_answers_csv", run.pk)))
    assert header == "worker,question,position,response,outcome,at,counted_in"
    assert len(rows) == Answer.objects.count() > 0
    assert {row.split(",")[4] for row in rows} == {"right", "not right"}


def test_a_draft_has_nothing_to_download(requester):
    run = make_run(start=False)
    response = requester.get(admin_url("run_selected_csv", run.pk), follow=True)
    assert "nothing to download before" in text_of(response)


# -- questions, answers, tokens, deleting


def test_a_question_is_added_by_hand_with_the_next_number(requester):
    question_set = make_questions(3)
    form = {
        "question_set": question_set.pk,
        "key": "extra",
        "prompt": "Really?",
        "choices": "yes\nno",
        "accepted": "yes\n",
    }
    requester.post(admin_url("question_add"), form)
    question = Question.objects.get(key="extra")
    assert (question.number, question.accepted, question.choices) == (3, ["yes"], ["yes", "no"])


def test_a_question_that_was_asked_cannot_be_changed(requester):
    run = make_run()
    engine.advance(run.pk)
    question = open_of(run)[0].question
    form = {"prompt": "Other", "choices": "", "accepted": "no"}
    response = requester.post(admin_url("question_change", question.pk), form)
    assert "has been asked in a run" in text_of(response)
    question.refresh_from_db()
    assert question.accepted == ["yes"]


def test_an_answer_must_be_among_the_choices(requester):
    form = {
        "question_set": make_questions(0).pk,
        "key": "q",
        "prompt": "?",
        "choices": "a\nb",
        "accepted": "c",
    }
    assert "“c” is not among the choices." in text_of(
        requester.post(admin_url("question_add"), form)
    )


def test_answers_cannot_be_changed(requester):
    run = make_run()
    play(run, crowd(1, 2), most=2)
    first = Answer.objects.first()
    assert requester.post(admin_url("answer_change", first.pk), {}).status_code == 403
    assert requester.post(admin_url("answer_delete", first.pk), {}).status_code == 403


def test_a_token_is_shown_once(requester):
    page = requester.post(admin_url("apitoken_add"), {"name": "robot"})
    secret = re.search(r"<code>([\w-]{40,})</code>", page.content.decode())[1]
    assert ApiToken.objects.get(name="robot").digest == ApiToken.digest_of(secret)
    for url in (admin_url("apitoken_changelist"), admin_url("apitoken_change", 1)):
        assert secret not in requester.get(url).content.decode()
    again = requester.post(admin_url("apitoken_add"), {"name": "robot"})
    assert "already exists" in text_of(again)
    assert ApiToken.objects.get(name="robot").digest == ApiToken.digest_of(secret)


def test_an_ended_run_can_be_deleted_and_a_running_one_cannot(requester):
    run = make_run()
    engine.advance(run.pk)
    intake.record(open_of(run)[0].pk, "yes")
    url = admin_url("run_delete", run.pk)
    assert requester.post(url, {"post": "yes"}).status_code == 403
    runs.stop(run)
    assert "Answers: 1" in text_of(requester.get(url))
    requester.post(url, {"post": "yes"})
    assert not Candidate.objects.filter(run_id=run.pk).exists()


def test_a_pool_in_use_is_not_deleted(requester):
    run = make_run()
    response = requester.post(admin_url("pool_delete", run.pool_id), {"post": "yes"})
    assert run.name in text_of(response)
    assert Pool.objects.filter(pk=run.pool_id).exists()


def test_an_address_that_leads_nowhere_says_so(requester):
    for url in ("/nowhere/", admin_url("run_page", 999)):
        response = requester.get(url)
        assert response.status_code == 404
        assert "There is nothing at this address" in text_of(response)
