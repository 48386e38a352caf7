"""A planted address: where it is, where it never is, and its erasure."""

import json
import logging
import unicodedata

import pytest
from django.apps import apps

from crowdselect.mail import invitations, opt_outs
from crowdselect.mail.models import Mail, OptOut
from selection import exports, privacy, reports
from selection.errors import Refused
from selection.imports import commit, uploads
from selection.models import AuditEntry, Run, Upload, Worker
from selection.outbox import jobs
from tests.worlds import answer_all, crowd, make_pool, make_run

from .conftest import send_all

pytestmark = pytest.mark.django_db
PLANTED = "planted.zebra@workers.example"
FILE = (
    f"worker,E-Mail,name,country\nw0,{PLANTED},Ada,UK\nw1,second@workers.example,Bo,\nw9,,Cy,US\n"
)


def bring(pool, text: str) -> Upload:
    upload = uploads.create_upload(Upload.Kind.WORKERS, pool, "workers.csv", text.encode())
    jobs.work_on_job(upload.pk)
    return commit.commit_import(upload.pk)[0]


def addresses(pool) -> dict[str, str]:
    return dict(pool.workers.order_by("key").values_list("key", "mail_address"))


@pytest.fixture
def run(mailbox) -> Run:
    """Return a run of which a worker was invited in vain; the server repeats the address."""
    pool = make_pool(4)
    bring(pool, FILE)
    run = make_run(pool=pool)
    mailbox.recipients[PLANTED] = f"550 5.1.1 <{PLANTED}>: planted.zebra is unknown here"
    invitations.send_invitations(run)
    send_all()
    answer_all(run, crowd(1, 2))
    return run


def contains(value: object) -> bool:
    return "zebra" in str(value).casefold()


def everything_stored() -> dict[str, list[dict[str, object]]]:
    return {model.__name__: list(model._base_manager.values()) for model in apps.get_models()}


def test_an_import_takes_a_column_of_addresses_and_no_attribute(run):
    worker = Worker.objects.get(key="w0")
    assert (worker.mail_address, worker.attributes) == (PLANTED, {"country": "UK"})
    assert addresses(run.pool)["w9"] == ""


def test_a_later_file_without_an_address_leaves_it_and_undo_restores_it():
    pool = make_pool(2)
    bring(pool, FILE)
    bring(pool, "worker,name\nw0,New\n")
    assert addresses(pool)["w0"] == PLANTED
    bring(pool, "worker,email\nw0,\nw1,third@workers.example\n")
    assert addresses(pool)["w0"] == PLANTED
    changed = bring(pool, "worker,email\nw0,other@workers.example\n")
    assert addresses(pool)["w0"] == "other@workers.example"
    commit.undo_import(changed.pk)
    assert addresses(pool)["w0"] == PLANTED
    assert addresses(pool)["w1"] == "third@workers.example"


def test_a_wrong_address_is_refused_with_its_line():
    upload = uploads.create_upload(
        Upload.Kind.WORKERS, make_pool(1), "workers.csv", b"worker,email\nw5,nobody at home\n"
    )
    jobs.work_on_job(upload.pk)
    (row,) = upload.rows.all()
    assert (row.line, "an address like ada@example.org" in row.why) == (2, True)


def test_no_log_export_dump_or_reply_has_the_address(
    run, client, token, requester, caplog, capfd, mailbox
):
    caplog.set_level(logging.DEBUG)
    requester.post(
        f"/admin/selection/worker/{Worker.objects.get(key='w0').pk}/change/",
        {"pool": run.pool.pk, "key": "w0", "name": "Eve", "mail_address": PLANTED.upper()},
    )
    Mail.objects.filter(state="refused").update(state="failed")
    mailbox.recipients[PLANTED.upper()] = mailbox.recipients[PLANTED]
    invitations.retry_failed(run)
    send_all()
    headers = {"authorization": f"Bearer {token}"}
    texts = {
        "log": caplog.text + "".join(capfd.readouterr()),
        "audit": list(AuditEntry.objects.values()),
        "events": list(run.events.values()),
        "mails": list(Mail.objects.values()),
        "dump": json.dumps(reports.dump_run(run)),
        "anonymous dump": json.dumps(reports.dump_run(run, anonymous=True)),
    }
    for name in exports.FORMATS:
        try:
            texts[name] = b"".join(exports.make_file(run, name).pieces)
        except Refused:
            continue
    pool, worker = f"/api/pools/{run.pool.pk}/workers", f"/api/pools/{run.pool.pk}/workers/w0"
    at = f"/api/runs/{run.pk}"
    for path in (
        pool,
        worker,
        at,
        f"{at}/workers",
        f"{at}/mail",
        f"{at}/standings",
        f"{at}/events",
    ):
        reply = client.get(path, headers=headers)
        assert reply.status_code == 200
        texts[path] = reply.content
    upload = Upload.objects.get(state=Upload.State.TAKEN)
    texts["rows of the file"] = client.get(f"/api/files/{upload.pk}/rows", headers=headers).content
    assert len(texts) > 20
    assert [name for name, text in texts.items() if contains(text)] == []
    assert AuditEntry.objects.filter(after__mail_address="hidden").exists()


def test_the_export_of_personal_data_has_it(run):
    (pool,) = (document := privacy.export_worker(list(Worker.objects.filter(key="w0"))))["pools"]
    assert pool["email"] == PLANTED
    (message,) = document["runs"][0]["messages"]
    assert message["outcome"] == "address failed: 550 5.1.1 <…>: … is unknown here"


def test_an_erasure_leaves_no_trace_of_it_and_the_opt_out_of_the_address(run):
    rows = list(Worker.objects.filter(key="w0"))
    opt_outs.opt_out(rows[0])
    privacy.erase_worker(rows, "ada")
    stored = everything_stored()
    assert [name for name, values in stored.items() if contains(values)] == []
    assert OptOut.objects.count() == 1
    assert Worker.with_erased.get(pk=rows[0].pk).mail_address == ""
    bring(run.pool, f"worker,email\nw77,{PLANTED}\n")
    worker = Worker.objects.select_related("pool").get(key="w77")
    assert opt_outs.is_opted_out(worker)


def test_an_erasure_forgets_the_opt_out_of_an_id_stored_in_an_old_spelling():
    pool = make_pool(1)
    Worker.objects.update(key=unicodedata.normalize("NFD", "Zoë"))
    worker = pool.workers.select_related("pool").get()
    opt_outs.opt_out(worker)
    assert OptOut.objects.count() == 1
    privacy.erase_worker([worker], "ada")
    assert not OptOut.objects.exists()


def test_programs_give_addresses_and_never_get_them_back(client, token, mailbox):
    pool, headers = make_pool(1), {"authorization": f"Bearer {token}"}
    at = f"/api/pools/{pool.pk}/workers"

    def put(**worker: str):
        body = {"workers": [{"worker": "w0", "name": "Ada"} | worker]}
        return client.put(at, body, content_type="application/json", headers=headers).json()

    assert put(email=PLANTED)["changed"] == 1
    assert put(email=PLANTED)["unchanged"] == 1
    assert put()["unchanged"] == 1
    assert addresses(pool)["w0"] == PLANTED
    assert put(email="nobody at home")["rows"][0]["result"] == "refused"
    cleared = client.patch(
        f"{at}/w0", {"email": ""}, content_type="application/json", headers=headers
    )
    assert (cleared.status_code, addresses(pool)["w0"]) == (200, "")
