"""Two teams with the same objects, and visitors of every kind."""

import itertools
from dataclasses import dataclass
from datetime import timedelta
from unittest import mock

from django.contrib.auth.models import Group, User
from django.utils import timezone

from crowdselect.past_answers import replay_requests
from crowdselect.past_answers.models import Replay
from selection import engine
from selection.forecast import PastBelief, draft_forecast, forecast_requests, inputs
from selection.imports import catalog, uploads
from selection.imports.keyed_answers import File
from selection.imports.row_parsers import QuestionRow, WorkerRow
from selection.models import (
    Answer,
    ApiToken,
    Assignment,
    AuditEntry,
    Connection,
    ConnectorCall,
    Delivery,
    Endpoint,
    ForecastRequest,
    Job,
    Membership,
    ModelServer,
    Pool,
    Practice,
    QuestionSet,
    Run,
    RunConnection,
    Team,
    Upload,
    Watch,
    WatchConnection,
    Webhook,
)
from selection.questions import media
from selection.watches import begin, steps
from selection.watches.gold import GivenGold, record_gold
from selection.worker import links
from tests.worlds import answer_all, make_run, open_of

Role = Membership.Role
logins = itertools.count(1)
LATER = timezone.now() + timedelta(days=1)


@dataclass(frozen=True)
class Camp:
    """A team with an object of every kind, all named by its word; ``draft`` has not started."""

    word: str
    team: Team
    pool: Pool
    question_set: QuestionSet
    run: Run
    draft: Run
    forecast: ForecastRequest
    upload: Upload
    replay: Replay
    token: ApiToken
    user: User
    group: Group
    entry: AuditEntry
    delivery: Delivery
    call: ConnectorCall
    model_server: ModelServer
    job: Job
    watch: Watch

    @property
    def open(self) -> Assignment:
        return open_of(self.run)[0]

    @property
    def answer(self) -> Answer:
        return Answer.objects.filter(run=self.run).order_by("pk")[0]

    @property
    def link(self) -> str:
        return links.worker_token(self.run.candidates.order_by("pk")[0].pk)

    def secret(self, scope: str) -> str:
        return ApiToken.issue(f"{self.word} {scope}", self.team, scope=scope)


def camp(word: str) -> Camp:
    team = Team.objects.create(name=f"{word} team")
    pool = Pool.objects.create(team=team, name=f"{word} pool")
    country = {"country": f"{word} land"}
    people = [WorkerRow(i, f"{word}-w{i}", f"{word} {i}", country) for i in range(4)]
    catalog.take_workers(pool, people)
    question_set = QuestionSet.objects.create(team=team, name=f"{word} questions")
    asked = [QuestionRow(i, f"{word}-q{i}", f"{word} {i}?", ["yes"], []) for i in range(30)]
    catalog.take_questions(question_set, asked)
    Practice.objects.create(question_set=question_set, prompt=f"{word} first?", accepted=["yes"])
    media.store_media(question_set, f"{word}.gif", b"GIF89a")
    made = {"pool": pool, "question_set": question_set}
    run = make_run(name=f"{word} run", **made)
    engine.advance(run.pk)
    answer_all(run, lambda one: "yes" if one.pk % 2 else None)
    engine.advance(run.pk)
    run.refresh_from_db()
    text = f"worker,question,response\n{word}-w0,{word}-q0,yes\n"
    brought = uploads.create_upload(Upload.Kind.ANSWERS, run, f"{word}.csv", text.encode())
    ApiToken.issue(f"{word} program", team)
    draft = make_run(name=f"{word} draft", start=False, **made)
    return Camp(
        word,
        team,
        pool,
        question_set,
        run,
        draft,
        _forecast(draft, word),
        brought,
        _replay(team, word),
        ApiToken.objects.get(team=team),
        member(team, Role.OWNER),
        Group.objects.create(name=f"{word} group"),
        _entry(team, word),
        _delivery(team, word),
        _connector_call(run, word),
        _model_server(pool, word),
        Job.objects.create(
            team=team, kind="models", by=word, result={"models": [word]}, expires=LATER
        ),
        _watch(pool, question_set, word),
    )


def _watch(pool: Pool, question_set: QuestionSet, word: str) -> Watch:
    workers = dict.fromkeys(f"{word}-w{i}" for i in range(2))
    settings = {"name": f"{word} watch", "level": 0.5, "rule": Watch.Rule.LASTING}
    watch = begin.create_watch(pool, [question_set], workers, **settings)
    given = GivenGold(f"{word}-w0", f"{word}-q0", "no")
    record_gold(watch, [given])
    steps.advance_watch(watch.pk)
    connection = Connection.objects.get(team=pool.team)
    joined = timezone.now()
    WatchConnection.objects.create(watch=watch, connection=connection, on=False, joined=joined)
    return watch


def _forecast(draft: Run, word: str) -> ForecastRequest:
    """Return a minimal forecast."""
    draft.belief = inputs.belief_to_numbers(
        PastBelief(f"the run “{word} past”", (3.0, 1.0), (4, 4))
    )
    draft.save(update_fields=["belief"])
    with mock.patch.object(forecast_requests, "FIRST", 0.0):
        return draft_forecast.request_draft_forecast(draft)


def _replay(team: Team, word: str) -> Replay:
    lines = [f"{word}-w{i},{word}-q{j},yes,yes" for i in range(3) for j in range(4)]
    text = "\n".join(["worker,question,response,gold", *lines])
    source = replay_requests.Source(File(f"{word} past.csv", text.encode()))
    wanted = {"k": 1, "epsilon": 0.3, "delta": 0.1}
    return replay_requests.request_replay(source, wanted, team.pk)


def _entry(team: Team, word: str) -> AuditEntry:
    told = {"at": timezone.now(), "who": f"{word} owner", "kind": "changed", "model": "team"}
    return AuditEntry.objects.create(team=team, name=f"{word} team", item=str(team.pk), **told)


def _delivery(team: Team, word: str) -> Delivery:
    hook = Webhook.objects.create(team=team, url=f"https://{word}.example", events=["run.ended"])
    told = {"kind": "run.ended", "body": word, "made": timezone.now()}
    return Delivery.objects.create(webhook=hook, **told)


def _connector_call(run: Run, word: str) -> ConnectorCall:
    """Return a failed call of a connection to a forbidden address, which the run uses."""
    values = {"name": f"{word} studio", "address": f"https://127.0.0.1/{word}"}
    connection = Connection.objects.create(team=run.team, kind="label_studio", **values)
    link = RunConnection.objects.create(run=run, connection=connection, on=False)
    told = {"kind": "selection.write", "body": "{}", "made": timezone.now(), "said": word}
    return ConnectorCall.objects.create(connection=connection, link=link, **told)


def _model_server(pool: Pool, word: str) -> ModelServer:
    """Return a server at a forbidden address, of which the pool's first worker is a model."""
    url = f"https://127.0.0.1/{word}"
    server = ModelServer.objects.create(team=pool.team, name=f"{word} server", url=url)
    worker = pool.workers.first()
    assert worker is not None
    Endpoint.objects.create(worker=worker, server=server, model=f"{word} model")
    return server


def member(team: Team, role: str, **fields: object) -> User:
    user = User.objects.create_user(f"{role or 'bare'} {next(logins)}", is_staff=True, **fields)
    Membership.objects.create(team=team, user=user, role=role)
    return user
