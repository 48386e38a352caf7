"""Pages of models as workers: servers, grids, test calls, calls and money of a run."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from selection import reports
from selection.model_workers import changes, endpoints, spending
from selection.model_workers.price_list import SOURCE
from selection.models import Endpoint, Job, ModelCall, ModelServer, ModelSpending, Run, Team, Worker
from selection.outbox import jobs
from selection.runs import lifecycle
from selection.runs.roster import model_checks
from tests.jobs import follow_page, perform_jobs
from tests.model_stub import ModelStub
from tests.pages import admin_url, text_of
from tests.selection.model_workers.conftest import inside as inside  # allows the stub's address
from tests.selection.model_workers.conftest import make_model_run
from tests.worlds import make_pool, make_questions, make_run

pytestmark = pytest.mark.django_db
OFF = "http://127.0.0.1:9/v1"
GRID = """models:
- server: Stub
  model: [m1, m2]
  temperature: [0, 1]
  prompt: {plain: "", careful: Think first.}
  max_tokens: 20
"""


def say_yes(model: str, text: str) -> str:
    return "yes"


def server_form(**fields: object) -> dict[str, object]:
    form = {"name": "Stub", "url": OFF, "key": "", "key_variable": "", "concurrency": 8}
    return form | fields


def make_server(url: str = OFF, key: str | None = None) -> ModelServer:
    server = ModelServer()
    endpoints.save_server(server, {"name": "Stub", "url": url}, key)
    return server


# -- servers


def test_a_user_of_several_teams_chooses_the_server_s_team(requester):
    team = Team.objects.create(name="Second")
    add = admin_url("modelserver_add")
    assert 'name="team"' in requester.get(add).content.decode()
    assert requester.post(add, server_form(team=team.pk)).status_code == 302
    assert ModelServer.objects.get().team == team


def test_a_key_is_entered_kept_and_removed_and_never_shown(requester):
    add = admin_url("modelserver_add")
    assert requester.post(add, server_form(key="sk-secret-1")).status_code == 302
    server = ModelServer.objects.get()
    first, change = server.key_encrypted, admin_url("modelserver_change", server.pk)
    page = requester.get(change).content.decode()
    assert first
    assert "sk-secret-1" not in page
    assert first not in page
    assert requester.post(change, server_form(concurrency=3)).status_code == 302
    server.refresh_from_db()
    assert (server.key_encrypted, server.concurrency) == (first, 3)
    assert "stored" in text_of(requester.get(admin_url("modelserver_changelist")))
    requester.post(change, server_form(drop_key="on"))
    server.refresh_from_db()
    assert server.key_encrypted == ""


def test_a_server_that_cannot_be_is_refused_at_its_field(requester):
    make_server(key="sk-secret-1")
    change = admin_url("modelserver_change", ModelServer.objects.get().pk)
    for fields, words in (
        ({"url": "http://127.0.0.1:10/v1"}, "enter the API key again"),
        ({"key_variable": "SECRET_KEY"}, "MODEL_KEYS"),
        ({"url": "nowhere"}, "is not an address"),
    ):
        assert words in text_of(requester.post(change, server_form(**fields)))
    taken = requester.post(admin_url("modelserver_add"), server_form())
    assert "This name is already in use" in text_of(taken)
    assert ModelServer.objects.get().url == OFF


def test_the_models_of_a_server_are_listed_or_the_reason_is_told(requester):
    with ModelStub(say_yes) as stub:
        address = admin_url("modelserver_models", make_server(stub.url).pk)
        begun = requester.post(address, {"do": "ask"})
        assert "The server is asked" in text_of(requester.get(begun["Location"]))
        page = text_of(follow_page(requester, begun))
    assert "The server lists 2 models." in page
    assert "m1 m2" in page
    failed = text_of(follow_page(requester, requester.post(address, {"do": "ask"})))
    assert "does not list its models" in failed


def test_a_server_of_workers_is_not_deleted(requester):
    make_model_run(OFF, start=False)
    address = admin_url("modelserver_delete", ModelServer.objects.get().pk)
    assert "“w0” is a model of the server" in text_of(requester.get(address))
    requester.post(address, {"post": "yes"})
    assert ModelServer.objects.exists()
    Endpoint.objects.all().delete()
    requester.post(address, {"post": "yes"})
    assert not ModelServer.objects.exists()


# -- models of a pool


def test_a_grid_is_previewed_and_then_added(requester):
    make_server()
    pool = make_pool(1)
    address = admin_url("pool_models", pool.pk)
    assert "Add models" in text_of(requester.get(admin_url("pool_change", pool.pk)))
    assert "server: Stub" in text_of(requester.get(address))
    preview = requester.post(address, {"pasted": GRID, "do": "preview"})
    assert "Add 8 models" in text_of(preview)
    assert "m2, careful, t=1" in text_of(preview)
    assert "Think first." in text_of(preview)
    assert not Endpoint.objects.exists()
    added = requester.post(address, {"pasted": GRID, "do": "add"}, follow=True)
    assert "Stored 8 models: 8 added." in text_of(added)
    assert pool.workers.count() == 9
    file = SimpleUploadedFile("models.yaml", GRID.replace("[0, 1]", "[1, 2]").encode())
    again = text_of(requester.post(address, {"file": file}))
    assert "4 of them are there already and get these settings" in again


LISTED = """models:
- {server: Stub, model: [gpt-4o-mini, nobodys-model]}
- {server: Stub, model: gpt-4o, price_in: 0}
"""
PUBLISHED = "$0.15 in, $0.60 out per million tokens"


@pytest.mark.parametrize(("choice", "price"), [({}, 0), ({"published": "on"}, Decimal("0.6"))])
def test_published_prices_are_shown_and_taken_by_choice(requester, choice, price):
    make_server("https://api.openai.com/v1")
    address = admin_url("pool_models", make_pool(1).pk)
    preview = text_of(requester.post(address, {"pasted": LISTED, "do": "preview"}))
    assert preview.count("published price") == 2
    assert f"published price {PUBLISHED}" in preview
    assert f"Use the published price ({SOURCE}) for 1 model without a price" in preview
    requester.post(address, {"pasted": LISTED, "do": "add", **choice})
    prices = dict(Endpoint.objects.values_list("model", "price_out"))
    assert prices == {"gpt-4o-mini": price, "nobodys-model": 0, "gpt-4o": 0}


def test_model_takes_its_published_price_by_one_click(requester):
    make_server("https://api.openai.com/v1")
    pool = make_pool(1)
    requester.post(admin_url("pool_models", pool.pk), {"pasted": LISTED, "do": "add"})
    worker = pool.workers.get(key="gpt-4o-mini")
    address = admin_url("worker_model", worker.pk)
    assert f"calls count as free. Published: {PUBLISHED} ({SOURCE})." in text_of(
        requester.get(address)
    )
    page = text_of(requester.post(address, {"do": "price"}, follow=True))
    assert f"The price is {PUBLISHED} ({SOURCE})." in page
    assert "Use the published price" not in page
    Endpoint.objects.filter(worker=worker).update(price_out=7)
    requester.post(address, {"do": "price"})
    assert Endpoint.objects.get(worker=worker).price_out == 7
    other = admin_url("worker_model", pool.workers.get(key="nobodys-model").pk)
    assert "Published" not in text_of(requester.get(other))


def test_a_template_names_columns_of_question_sets(requester):
    worker = make_model_run(OFF, start=False).pool.workers.get(key="w0")
    make_questions(1).questions.update(columns={"topic": "Art"})
    address = admin_url("worker_model", worker.pk)
    assert "Columns of question sets: {topic}." in text_of(requester.get(address))
    wrong = requester.post(address, {"do": "save", **settings_of(worker, "{question} {theme}")})
    assert "The template has the placeholder {theme}; there are" in text_of(wrong)
    requester.post(address, {"do": "save", **settings_of(worker, "{question} {topic}")})
    assert Endpoint.objects.get(worker=worker).template == "{question} {topic}"


def settings_of(worker: Worker, template: str) -> dict[str, object]:
    values = changes.list_settings(worker.endpoint) | {"template": template, "extra_body": "{}"}
    filled = {name: value for name, value in values.items() if value is not None}
    return filled | {"server": worker.endpoint.server_id}


def test_a_fault_is_told_with_its_line(requester):
    make_server()
    address = admin_url("pool_models", make_pool(1).pk)
    wrong = text_of(requester.post(address, {"pasted": GRID.replace("max_tokens", "tokens")}))
    assert "Line 6, column 3: there is no “tokens” here" in wrong
    assert "Choose a file or write the text" in text_of(requester.post(address))


def test_a_key_in_the_text_is_refused_and_not_repeated(requester):
    address = admin_url("pool_models", make_pool(1).pk)
    text = f"servers:\n  Stub:\n    url: {OFF}\n    key: sk-secret-1\n{GRID}"
    page = requester.post(address, {"pasted": text, "do": "add"})
    assert "Enter the API key on the page of the model server" in text_of(page)
    assert "sk-secret-1" not in page.content.decode()
    assert not ModelServer.objects.exists()


# -- one model


def test_a_test_call_shows_request_reply_answer_time_and_price(requester):
    questions = make_questions(2)
    with ModelStub(say_yes) as stub:
        run = make_model_run(stub.url, start=False, endpoint={"price_in": 1, "price_out": 2})
        worker = run.pool.workers.get(key="w0")
        assert "This worker is a model" in text_of(
            requester.get(admin_url("worker_change", worker.pk))
        )
        address = admin_url("worker_model", worker.pk)
        asked = {"do": "test", "question_set": questions.pk, "question": "q1"}
        page = text_of(follow_page(requester, requester.post(address, asked)))
    for words in ("The answer is “yes”.", "0.000024", '"content": "Say yes to 1.', "ms"):
        assert words in page
    assert ModelCall.objects.get().run is None
    failed = text_of(follow_page(requester, requester.post(address, asked)))
    assert "No connection" in failed
    nothing = text_of(requester.post(address, asked | {"question": "q9"}))
    assert "There is no question “q9”" in nothing


def test_settings_of_a_model_are_changed_and_it_is_removed(requester):
    run = make_model_run(OFF, start=False)
    worker = run.pool.workers.get(key="w0")
    address = admin_url("worker_model", worker.pk)
    form = {
        "do": "save",
        "server": ModelServer.objects.get().pk,
        "model": "m9",
        "max_tokens": 7,
        "timeout": 3,
        "parsing": "regex",
        "pattern": "(",
        "unreadable": "retry",
        "price_in": "0.5",
        "price_out": 0,
        "price_call": 0,
    }
    refused = requester.post(address, form)
    assert refused.status_code == 200
    assert Endpoint.objects.get(worker=worker).model == "m0"
    saved = requester.post(address, form | {"pattern": "=(.*)"}, follow=True)
    assert "Saved" in text_of(saved)
    endpoint = Endpoint.objects.get(worker=worker)
    assert (endpoint.model, endpoint.pattern, endpoint.temperature) == ("m9", "=(.*)", None)
    requester.post(address, {"do": "remove"})
    assert not Endpoint.objects.filter(worker=worker).exists()
    assert requester.get(address).status_code == 404
    assert requester.post(address, {"do": "remove"}).status_code == 404


# -- a run


@pytest.mark.parametrize("junk", ['{"top_k": ' + "9" * 5000 + "}", "[" * 5000])
def test_unreadable_parameters_of_a_model_are_refused_at_their_field(requester, junk):
    worker = make_model_run(OFF, start=False).pool.workers.get(key="w0")
    form = {"do": "save", "extra_body": junk}
    response = requester.post(admin_url("worker_model", worker.pk), form)
    assert response.status_code == 200
    assert "Enter a valid JSON." in text_of(response)


def fail_model(run: Run, key: str, **fields: object) -> None:
    values = {"problem": "The server answered 401: wrong key.", "failures": 3} | fields
    Endpoint.objects.filter(worker__pool=run.pool, worker__key=key).update(**values)


def test_a_run_shows_its_money_its_failing_models_and_its_calls(requester):
    run = make_model_run(OFF, models=4, currency="$")
    ModelSpending.objects.create(run=run, spent=1_500_000_000, in_flight=20_000)
    fail_model(run, "w1")
    ModelCall.objects.create(
        run=run,
        worker=run.pool.workers.get(key="w2"),
        question=run.question_set.questions.get(key="q3"),
        digest="d",
        state="replied",
        sent=run.started,
        expires=run.started,
        reply="=1+1 is <b>my</b> reply",
        answer="yes",
        cost=3_000,
    )
    page = requester.get(admin_url("run_page", run.pk))
    words = text_of(page)
    for told in ("Calls and money", "$1.50", "$0.00002", "w1 does not reply.", "wrong key"):
        assert told in words
    assert "=1+1 is &lt;b&gt;my&lt;/b&gt; reply" in page.content.decode()
    changed = requester.post(admin_url("run_calls", run.pk), {"limit": "12.5"}, follow=True)
    assert "$12.50" in text_of(changed)
    assert ModelSpending.objects.get().limit == 12_500_000_000
    refused = requester.post(admin_url("run_calls", run.pk), {"limit": "-1"}, follow=True)
    assert "The limit:" in text_of(refused)
    ledger = text_of(requester.get(admin_url("run_calls", run.pk), {"state": "replied"}))
    assert "$0.000003" in ledger
    assert "There is no call in this state" in text_of(
        requester.get(admin_url("run_calls", run.pk), {"state": "failed"})
    )
    lifecycle.stop_run(run)
    assert "does not reply" not in text_of(requester.get(admin_url("run_page", run.pk)))


def test_the_money_of_a_run_is_refreshed_with_its_page(requester):
    run = make_model_run(OFF, models=4, currency="$")
    ModelSpending.objects.create(run=run, spent=1_500_000_000)
    tag = requester.get(admin_url("run_page", run.pk)).context["pieces"].tag
    ModelSpending.objects.update(spent=2_250_000_000, in_flight=40_000_000)
    cache.clear()  # pieces are shown for some seconds
    headers = {"If-None-Match": f'"{tag}"'}
    money = requester.get(admin_url("run_live", run.pk), headers=headers).json()["parts"]["money"]
    assert "$2.25" in money
    assert "$0.04" in money
    people = make_run()
    page = requester.get(admin_url("run_live", people.pk), headers=headers).json()["parts"]
    assert page["money"] == ""


def test_a_draft_offers_the_limit_before_its_start(requester):
    run = make_model_run(OFF, start=False)
    assert "Limit of the money" in text_of(requester.get(admin_url("run_page", run.pk)))
    page = requester.post(admin_url("run_calls", run.pk), {"limit": "3"}, follow=True)
    assert "Limit €3.00" in text_of(page)


def test_a_run_of_people_says_nothing_of_models(requester):
    for start in (True, False):
        page = text_of(requester.get(admin_url("run_page", make_run(start=start).pk)))
        assert "Calls and money" not in page
        assert "Calls of models" not in page


def test_failing_models_are_among_the_alerts_of_a_run():
    run = make_model_run(OFF, models=4)
    assert "models" not in {alert.kind for alert in reports.list_alerts(run)}
    fail_model(run, "w1", failures=1, rests_until=timezone.now() + timedelta(seconds=1))
    assert "models" not in {alert.kind for alert in reports.list_alerts(run)}
    fail_model(run, "w1")
    fail_model(run, "w3")
    alert = next(alert for alert in reports.list_alerts(run) if alert.kind == "models")
    assert alert.words == (
        "“w1” does not reply, nor does another: The server answered 401: wrong key. "
        "Make a test call on their page."
    )


def test_viewer_changes_nothing_and_is_offered_no_change(requester):
    run = make_model_run(OFF)
    user = User.objects.create_user("viewer", is_staff=True)
    names = ["view_run", "view_worker", "view_modelserver", "view_modelcall"]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    viewer = Client()
    viewer.force_login(user)
    worker = run.pool.workers.get(key="w0")
    fail_model(run, "w0")
    page = text_of(viewer.get(admin_url("run_page", run.pk)))
    assert "Open settings and test call" in page
    user.user_permissions.remove(Permission.objects.get(codename="view_worker"))
    shown = Client()
    shown.force_login(User.objects.get(pk=user.pk))
    assert "Open settings and test call" not in text_of(shown.get(admin_url("run_page", run.pk)))
    user.user_permissions.add(Permission.objects.get(codename="view_worker"))
    assert "Calls and money" in page
    assert "Change limit" not in page
    assert "Send test call" not in text_of(viewer.get(admin_url("worker_model", worker.pk)))
    assert viewer.get(admin_url("run_calls", run.pk)).status_code == 200
    for name, args in (("run_calls", run.pk), ("worker_model", worker.pk)):
        assert viewer.post(admin_url(name, args), {"do": "test"}).status_code == 403
    assert viewer.get(admin_url("pool_models", run.pool_id)).status_code == 403
    server = admin_url("modelserver_change", ModelServer.objects.get().pk)
    assert viewer.get(server).status_code == 200
    assert viewer.post(server, server_form(key="x")).status_code == 403


# -- the check before the start


def say_words(model: str, text: str) -> str:
    return "" if model == "m1" else "yes"


def test_a_draft_checks_its_models_and_leaves_the_broken_ones_out(requester):
    with ModelStub(say_words) as stub:
        run = make_model_run(stub.url, models=4, start=False, endpoint={"price_in": 1}, k=1)
        broken = ModelServer.objects.create(name="Off", url=OFF)
        Endpoint.objects.filter(worker__key="w3").update(server=broken)
        draft = requester.get(admin_url("run_page", run.pk)).content.decode()
        address = admin_url("run_models", run.pk)
        assert f'formaction="{address}"' in draft
        assert "4 models is asked" in text_of(requester.get(address))
        page = text_of(follow_page(requester, requester.post(address, {"do": "check"})))
    assert stub.calls == 3
    for words in ("2 of 4 models gave no readable", "No connection", "The reply is empty", "yes"):
        assert words in page
    assert set(ModelCall.objects.values_list("run", flat=True)) == {None}
    left = requester.post(address, {"do": "leave", "worker": ["w1", "w3"]}, follow=True)
    run.refresh_from_db()
    assert run.left_out == ["w1", "w3"]
    assert "All models replied" in text_of(left)
    too_few = requester.post(address, {"do": "leave", "worker": ["w0"]}, follow=True)
    assert "too few to choose 1 from" in text_of(too_few)
    assert "check of the models is done" in text_of(requester.get(admin_url("run_page", run.pk)))
    requester.post(admin_url("run_verb", run.pk, "start"))
    assert set(run.candidates.values_list("worker__key", flat=True)) == {"w0", "w2"}
    assert "The run has begun" in text_of(requester.post(address, {"do": "check"}, follow=True))


def test_a_check_that_exceeds_the_limit_of_money_is_refused(requester):
    run = make_model_run(OFF, start=False, endpoint={"price_call": 1})
    spending.set_limit(run, 5)
    page = requester.post(admin_url("run_models", run.pk), {"do": "check"}, follow=True)
    assert "more than the limit of the money" in text_of(page)
    assert not Job.objects.exists()


def test_a_check_asks_as_many_at_once_as_the_server_allows_and_shows_progress(monkeypatch):
    seen = []
    monkeypatch.setattr(model_checks, "SECONDS", 0)
    monkeypatch.setattr(jobs, "store_turn", lambda job, *columns: seen.append(job.result))
    with ModelStub(say_yes, seconds=0.05) as stub:
        run = make_model_run(stub.url, models=9, start=False)
        ModelServer.objects.update(concurrency=3)
        model_checks.request_check(run, "tester")
        perform_jobs()
    assert (stub.calls, stub.most_at_once) == (9, 3)
    assert (len(seen), seen[0]["total"]) == (10, 9)  # each reply, and the end
