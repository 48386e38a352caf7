"""Downloads of a run: the selected, links, open questions, answers."""

import csv
import io
import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from selection import engine, exports
from selection.exports import FORMATS
from selection.models import Answer, Assignment, Worker
from tests.pages import admin_url, confirm, lines_of, text_of, upload
from tests.worlds import crowd, kept_run, make_pool, make_run, open_of, play

pytestmark = pytest.mark.django_db


@pytest.fixture
def run_viewer(client):
    """A client with the permission to view runs and no other, and a run."""
    user = User.objects.create_user("onlooker", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_run"))
    client.force_login(user)
    return client, make_run(price=1, currency="$")


def test_selected_workers_are_exported_as_csv_and_json(requester):
    run = make_run(questions=3000)
    play(run, crowd(1, 2))
    table = requester.get(admin_url("run_export", run.pk, "csv"))
    header, *rows = lines_of(table)
    assert header.startswith("rank,worker,name,verdict,answers,right,mean,lower,upper")
    assert len(rows) == 2
    assert "attachment" in table["Content-Disposition"]
    document = json.loads(requester.get(admin_url("run_export", run.pk, "json")).getvalue())
    assert sum(row["selected"] for row in document["workers"]) == 2
    assert document["certified"] is True


def test_pages_link_only_to_formats_that_exist():
    pages = "".join(page.read_text() for page in Path("templates").rglob("*.html"))
    linked = set(re.findall(r"admin:selection_run_export' run\.pk '([\w-]+)'", pages))
    assert {"csv", "xlsx"} <= linked <= set(FORMATS)


def test_links_file_gives_workers_their_own_link(requester, client):
    run = make_run()
    Worker.objects.filter(key="w0").update(mail_address="w0@example.org")
    header, *rows = lines_of(requester.get(admin_url("run_links_csv", run.pk)))
    assert header == "worker,name,email,link"
    assert rows[0].startswith("w0,Worker 0,w0@example.org,http")
    links = [row.rsplit(",", 1)[1] for row in rows]
    assert len(set(links)) == 6
    path = links[0][links[0].index("/work/") :]
    assert client.get(path).status_code == 200


def test_open_questions_can_be_answered_elsewhere_and_come_back(requester):
    run = make_run()
    engine.advance(run.pk)
    header, *rows = lines_of(requester.get(admin_url("run_open_csv", run.pk)))
    assert header == "worker,question,prompt,choices,assignment,due,kind"
    assert len(rows) == len(open_of(run)) > 0
    answered = "\n".join([header + ",response", *(row + ",yes" for row in rows)])
    confirm(requester, upload(requester, admin_url("run_import", run.pk), answered))
    assert Answer.objects.count() == len(rows)


def test_overdue_questions_are_not_handed_on(requester):
    run = make_run()
    engine.advance(run.pk)
    Assignment.objects.update(due=timezone.now() - timedelta(minutes=1))
    assert len(lines_of(requester.get(admin_url("run_open_csv", run.pk)))) == 1


def test_answers_of_a_run_are_downloaded(requester):
    run = make_run()
    play(run, crowd(1, 2), most=2)
    header, *rows = lines_of(requester.get(admin_url("run_export", run.pk, "answers")))
    assert header == "worker,question,position,response,outcome,at,counted_in"
    assert len(rows) == Answer.objects.count() > 0
    assert {row.split(",")[4] for row in rows} == {"right", "not right"}


def test_a_draft_has_nothing_to_download(requester):
    run = make_run(start=False)
    for url in (
        admin_url("run_links_csv", run.pk),
        admin_url("run_export", run.pk, "all-csv"),
    ):
        assert "nothing to download before" in text_of(requester.get(url, follow=True))


def test_the_page_leads_to_every_format_that_one_may_take(requester):
    run = kept_run(price=1, currency="$")
    page = requester.get(admin_url("run_page", run.pk)).content.decode()
    for name in FORMATS:
        address = admin_url("run_export", run.pk, name)
        assert f'href="{address}"' in page
        response = requester.get(address)
        assert response["Content-Type"] == FORMATS[name].media
        assert response["Content-Disposition"].endswith(f'.{FORMATS[name].ending}"')
        assert response.getvalue()


def test_an_unknown_format_is_not_found_and_a_refusal_is_shown(requester):
    run = make_run()
    assert requester.get(admin_url("run_export", run.pk, "pdf")).status_code == 404
    text = text_of(requester.get(admin_url("run_export", run.pk, "prolific-bonus"), follow=True))
    assert "It is not known what an answer is paid" in text


def test_the_page_asks_for_dollars_if_mturk_would_pay_another_currency(requester):
    run = play(make_run(price=1), crowd(1, 2), most=2)
    run.candidates.update(platform="mturk", task="3TASK")
    address = admin_url("run_export", run.pk, "mturk-bonus")
    page = requester.get(admin_url("run_page", run.pk)).content.decode()
    assert f'href="{address}"' not in page
    assert f'action="{address}"' in page
    assert "the amounts of this run are in €" in text_of(requester.get(address, follow=True))
    assert "The pay: Enter a number" in text_of(requester.get(f"{address}?pay=x", follow=True))
    header, *rows = lines_of(requester.get(f"{address}?pay=1.10"))
    answered = Answer.objects.filter(assignment__candidate__worker__key="w0").count()
    assert header == "WorkerId,AssignmentId,BonusAmount,Reason"
    assert rows[0] == f"w0,3TASK,{1.1 * answered:.2f},{run}"


def test_answers_need_the_permission_to_view_them(run_viewer):
    client, run = run_viewer
    for name, each in FORMATS.items():
        expected = 403 if each.asks else 200
        assert client.get(admin_url("run_export", run.pk, name)).status_code == expected
    page = client.get(admin_url("run_page", run.pk)).content.decode()
    assert admin_url("run_export", run.pk, "all-csv") in page
    assert admin_url("run_export", run.pk, "answers") not in page


def test_the_file_is_sent_while_it_is_made(requester):
    run = make_run()
    response = requester.get(admin_url("run_export", run.pk, "all-csv"))
    assert response.streaming
    whole = b"".join(exports.make_file(run, "all-csv").pieces)
    assert response.getvalue() == whole


GERMAN = {"Accept-Language": "de-DE,de;q=0.9"}


def test_a_table_has_the_marks_of_the_viewer_s_spreadsheets(requester):
    run = play(make_run(n=3, slots=60, slots_per_worker=20), crowd(1, 2), most=2)
    urls = admin_url("run_export", run.pk, "all-csv"), admin_url("run_export", run.pk, "csv")
    for headers, query, (delimiter, decimal) in (
        (GERMAN, {}, ";,"),
        ({"Accept-Language": "fr"}, {}, ";,"),
        ({"Accept-Language": "en-GB"}, {}, ",."),
        ({}, {}, ",."),
        (GERMAN, {"csv": "comma"}, ",."),
        ({}, {"csv": "semicolon"}, ";,"),
    ):
        for url in urls:
            content = requester.get(url, query, headers=headers).getvalue()
            assert content.startswith(b"\xef\xbb\xbf")
            rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig")), delimiter=delimiter)
            first = next(rows)
            assert re.fullmatch(rf"[01]({re.escape(decimal)}\d+)?", first["mean"])
            assert re.fullmatch(rf"0{re.escape(decimal)}\d+", first["lower"])
    platform = requester.get(admin_url("run_export", run.pk, "mturk"), headers=GERMAN)
    assert lines_of(platform)[0].startswith("Worker ID,UPDATE-")


def test_a_file_s_name_has_its_ending_once(requester):
    run = play(make_run(name="Best 2"), crowd(1, 2), most=1)
    for name, file in (
        ("csv", "selected.csv"),
        ("all-csv", "all.csv"),
        ("xlsx", "selected.xlsx"),
    ):
        response = requester.get(admin_url("run_export", run.pk, name))
        assert response["Content-Disposition"] == f'attachment; filename="best-2-{file}"'


def test_open_questions_with_semicolons_come_back(requester):
    run = make_run()
    engine.advance(run.pk)
    header, *rows = lines_of(requester.get(admin_url("run_open_csv", run.pk), headers=GERMAN))
    assert header.startswith("worker;question;prompt")
    answered = "\n".join([header + ";response", *(row + ";yes" for row in rows)])
    confirm(requester, upload(requester, admin_url("run_import", run.pk), answered))
    assert Answer.objects.count() == len(rows) > 0


def test_a_table_of_workers_with_semicolons_comes_back(requester):
    run = kept_run(n=3)
    table = requester.get(admin_url("run_export", run.pk, "all-csv"), headers=GERMAN)
    pool = make_pool(0)
    content = table.getvalue().decode()
    confirm(requester, upload(requester, admin_url("pool_import", pool.pk), content))
    worker = pool.workers.get(key="w0")
    assert (worker.name, pool.workers.count()) == ("Worker 0", 3)
    assert worker.attributes["mean"].startswith(("0,", "1,"))
