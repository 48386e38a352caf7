"""Replays as jobs: requested, played by Celery in turns, swept. Stored in the database only.

A small file is read at once, so that its faults are known in the request. Nothing else is stored,
and the replay itself expires after a day.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from time import monotonic, process_time
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from selection.errors import NotFound, Refused
from selection.imports.column_plan import ColumnPlan
from selection.imports.keyed_answers import (
    FaultyRows,
    File,
    Key,
    key_of_questions,
    read_keyed_answers,
    refuse_open_choices,
)
from selection.imports.open_columns import ANSWERS, KEY, OpenColumns, find_open_columns
from selection.model_workers.expected_costs import ExpectedCost
from selection.models import QuestionSet, Replay, Run
from selection.outbox.queues import WorkQueue
from selection.runs.roster import worker_prices

from . import plays, records
from .arrays import RecordedAnswers
from .plays import PlannedPlay
from .records import AnswerRecord
from .settings import check_replay

logger = logging.getLogger(__name__)

SMALL = 1_000_000  # bytes that are read in the request
A_TURN = 5.0  # seconds after which a task makes room for others
ENOUGH = 60.0  # seconds after which no further seed is begun
FAULTS_KEPT = 200  # rows with an error that the page shows
FACTS = ("left_out", "idle", "repeated", "bad", "unread")
PICKED, LEAVE_OUT = "picked", "leave_out"  # in the column “columns”, beside the plans

State = Replay.State
GOING = Q(state__in=(State.READING, State.WORKING))
QUEUE = WorkQueue(
    *(Replay, "selection.tasks.replay", GOING),
    lost=timedelta(seconds=120),
    kept=timedelta(days=1),
)


@dataclass(frozen=True)
class Source:
    """The origin of the answers: a file with its key, a run, or a question set.

    key  a file; None if the question set or the file of answers has it
    """

    answers: File | None = None
    key: File | None = None
    run: Run | None = None
    question_set: QuestionSet | None = None

    @property
    def name(self) -> str:
        return str(self.answers.name if self.answers else self.run or self.question_set)


# -- requesting


def request_replay(
    source: Source, wanted: dict[str, Any], team: int, by: str = "", may_ask: bool = False
) -> Replay:
    """Create a replay of these answers and hand out its plays.

    wanted   K, epsilon, delta, and perhaps budget, price and currency
    may_ask  if columns are not recognised, results unclear or rows bad, wait for ``choose``

    Raises Refused for an impossible combination, and for faults of a small file.
    """
    replay = _build_replay(source, wanted, team_id=team, by=by)
    replay.columns |= {"ask": may_ask} if source.answers else {}
    _ask_or_read(replay)
    replay.save(force_insert=True)
    return replay


def play_at_once(
    source: Source,
    wanted: dict[str, Any],
    watch: Callable[[list[PlannedPlay]], Iterable[PlannedPlay]] = iter,
) -> Replay:
    """Play files of any size here to the end, and store nothing.

    wanted  as above; and perhaps algorithms, seeds (their number), options of algorithms, and
            redraw (draw each worker's answers with replacement)
    watch   wraps the plays to show their progress

    Raises Refused, also if no method can be run.
    """
    plays.refuse_unknown_options(wanted)
    replay = _build_replay(source, wanted)
    record = RecordedAnswers(_read_answers(replay, bounded=False).crowd())
    for planned in watch(plays.list_plays(wanted)):
        replay.plays.append(plays.play(record, wanted, replay.facts, planned))
    if all("refused" in one for one in replay.plays):
        raise Refused(replay.plays[0]["refused"])
    replay.state = State.DONE
    return replay


def _build_replay(source: Source, wanted: dict[str, Any], **owner: Any) -> Replay:
    _refuse_source(source)
    replay = Replay(
        **owner,
        name=source.name[:200],
        wanted=wanted,
        run=source.run,
        question_set=source.question_set,
        names=[file.name for file in (source.answers, source.key) if file],
        answers=source.answers.content if source.answers else b"",
        key=source.key.content if source.key else b"",
    )
    if source.answers:
        picked = dict(source.answers.picked)
        replay.columns = {LEAVE_OUT: source.answers.leave_out, PICKED: picked}
    return replay


def _ask_or_read(replay: Replay) -> None:
    """Begin to read, or wait for a person's choices. Raises Refused."""
    if replay.columns.get("ask") and find_replay_columns(replay):
        replay.state = State.COLUMNS
        return
    replay.state = State.READING
    try:
        _begin_reading(replay)
    except FaultyRows as refusal:
        if not replay.columns.get("ask"):
            raise
        _wait_for_rows(replay, refusal)


def _wait_for_rows(replay: Replay, refusal: FaultyRows) -> None:
    """Wait until a person leaves out the rows with an error."""
    first = [[row.line, row.why] for row in refusal.rows[:FAULTS_KEPT]]
    replay.columns["faults"] = {"name": refusal.name, "bad": len(refusal.rows), "faults": first}
    replay.state = State.COLUMNS


def find_replay_columns(replay: Replay) -> OpenColumns | None:
    """Find a person's open choices for a file, or None. Raises Refused if it is unreadable."""
    if faults := replay.columns.get("faults"):
        return OpenColumns(ANSWERS, **faults)
    return find_open_columns(*_files_of(replay)) if replay.names else None


def choose_columns(replay: Replay, role: str, plan: ColumnPlan) -> None:
    """Read a file of a waiting replay by this plan. Raises Refused.

    role  of the file: "answers" or "key"
    """
    choose(replay, {role: asdict(plan)})


def choose(replay: Replay, chosen: Mapping[str, Any]) -> None:
    """Read the files of a waiting replay as chosen: by plans, results, rows. Raises Refused."""
    with transaction.atomic():
        locked = Replay.objects.select_for_update().get(pk=replay.pk)
        if locked.state != State.COLUMNS:
            return
        locked.columns = {**locked.columns, **chosen, "faults": None, "ask": True}
        _ask_or_read(locked)
        locked.save()


def _begin_reading(replay: Replay) -> None:
    """Read small files now, and hand out the rest of the work. Raises Refused."""
    if len(replay.answers) + len(replay.key) <= SMALL:
        _read_answers(replay)
    transaction.on_commit(lambda: QUEUE.hand_out(_rows(replay)), robust=True)


def _refuse_source(source: Source) -> None:
    if source.run and (source.answers or source.question_set):
        raise Refused("Choose one: a file, a run, or a question set.")
    if source.key and not source.answers:
        raise Refused("The key needs a file with answers as well.")
    if not (source.answers or source.run or source.question_set):
        raise Refused("Upload a file with answers, or choose a run or a question set.")
    if source.key and source.question_set:
        raise Refused("Give the key as a file or as a question set: one of the two.")


def _read_answers(replay: Replay, bounded: bool = True) -> AnswerRecord:
    """Read files, run or question set into the record, and return it. Raises Refused."""
    facts: dict[str, Any] = {}
    if replay.names:
        answers, key = _files_of(replay)
        keyed = read_keyed_answers(answers, key)
        refuse_open_choices(keyed, answers)
        record = records.record_of_files(keyed, replay.name, bounded)
        facts = {name: getattr(keyed, name) for name in FACTS}
    elif replay.run:
        record = records.record_of_run(replay.run)
        facts = _model_facts(replay.run, replay.wanted.get("price"))
    else:
        assert replay.question_set is not None
        record = records.record_of_question_set(replay.question_set)
    crowd = record.crowd()
    check_replay(crowd, plays.build_settings(replay.wanted, record.scored))
    replay.facts = facts | ({"scores": True} if record.scored else {})
    replay.facts |= {
        "workers": len(crowd.workers),
        "questions": len(record.asked),
        "answers": len(record.rows),
    }
    replay.record, replay.answers, replay.key = record.pack(), b"", b""
    replay.tallies = record.tallies()
    replay.state = State.WORKING
    return record


def _model_facts(run: Run, price: float | None) -> dict[str, Any]:
    """Collect the tokens and the prices of an answer by worker, if there are models.

    price  of a person's answer; None: that of the run
    """
    people = run.price if price is None else Decimal(str(price))
    costs = worker_prices.estimate_model_costs(run.pool, run.question_set)
    workers = list(run.pool.workers.values_list("pk", "key"))
    amounts = {key: costs[pk].amount if pk in costs else people for pk, key in workers}
    tokens = {key: costs[pk].tokens if pk in costs else 0 for pk, key in workers}
    complete = costs and None not in tokens.values()
    return _price_facts(run, costs, amounts) | ({"tokens": tokens} if complete else {})


def _price_facts(
    run: Run, costs: Mapping[int, ExpectedCost], amounts: Mapping[str, Decimal | None]
) -> dict[str, Any]:
    if not any(cost.amount for cost in costs.values()) or None in amounts.values():
        return {}
    prices = {key: float(amount) for key, amount in amounts.items() if amount is not None}
    return {"prices": prices, "currency": run.currency}


def _files_of(replay: Replay) -> tuple[File, File | Key | None]:
    chosen = replay.columns
    plans = {role: ColumnPlan(**chosen[role]) for role in (ANSWERS, KEY) if role in chosen}
    ways = {"picked": chosen.get(PICKED, {}), "leave_out": chosen.get(LEAVE_OUT, False)}
    answers = File(replay.names[0], bytes(replay.answers), plans.get(ANSWERS), **ways)
    if len(replay.names) > 1:
        return answers, File(replay.names[1], bytes(replay.key), plans.get(KEY), **ways)
    questions = replay.question_set and replay.question_set.questions.filter(retired=None)
    return answers, key_of_questions(questions) if questions else None


def find_replay(pk: Any, among: QuerySet[Replay]) -> Replay:
    replay = among.filter(pk=pk).defer(*Replay.LARGE).first()
    if replay is None:
        raise NotFound("There is no such replay any more; upload the answers again.")
    return replay


def replay_progress(replay: Replay) -> float:
    return (
        1.0 if not replay.going else round(replay.played / len(plays.list_plays(replay.wanted)), 3)
    )


# -- working


def work_on_replay(replay_id: Any) -> None:
    """Read the answers or play for a turn. May come twice, late or never."""
    replay = Replay.objects.filter(pk=replay_id).first()
    if replay is None or not replay.going:
        return
    try:
        _work_for_a_turn(replay)
    except FaultyRows as refusal:
        if not replay.columns.get("ask"):
            _fail_replay(replay, str(refusal))
            return
        _wait_for_rows(replay, refusal)
        _rows(replay).filter(state=State.READING).update(state=replay.state, columns=replay.columns)
    except Refused as refusal:
        _fail_replay(replay, str(refusal))
    except Exception:
        logger.exception("Replay %s failed.", replay.pk)
        _fail_replay(replay, "These answers cannot be replayed: the server's log says why.")


def _work_for_a_turn(replay: Replay) -> None:
    if replay.state == State.READING:
        _read_answers(replay)
        columns = (*Replay.LARGE, "tallies", "facts", "state")
        going = _rows(replay).filter(state=State.READING)
        if not going.update(**{name: getattr(replay, name) for name in columns}):
            return
    record = RecordedAnswers(AnswerRecord.unpack(bytes(replay.record)).crowd())
    end = monotonic() + A_TURN
    while replay.going and monotonic() < end:
        if not _play_next(replay, record):
            return  # another process does it
    if replay.going:
        QUEUE.hand_out(_rows(replay))


def _play_next(replay: Replay, record: RecordedAnswers) -> bool:
    """Play the next planned play, and store it if no other process was quicker."""
    planned, started = plays.list_plays(replay.wanted), process_time()
    result = plays.play(record, replay.wanted, replay.facts, planned[replay.played])
    replay.plays.append(result)
    number, replay.played = replay.played, replay.played + 1
    replay.seconds += process_time() - started
    if replay.played == len(planned) or _has_enough(replay):
        replay.state = State.DONE
    columns = ("plays", "played", "seconds", "state")
    # An erasure may have renamed a worker meanwhile.
    same = {"played": number, "state": State.WORKING, "tallies": replay.tallies}
    going = _rows(replay).filter(**same)
    return bool(going.update(**{name: getattr(replay, name) for name in columns}))


def _has_enough(replay: Replay) -> bool:
    """Tell if a round of all algorithms took the time there is."""
    whole_round = (replay.played - plays.FIRST_ROUND) % len(plays.METHODS) == 0
    return replay.seconds > ENOUGH and replay.played >= plays.FIRST_ROUND and whole_round


def _fail_replay(replay: Replay, error: str) -> None:
    going = _rows(replay).filter(GOING)
    going.update(state=State.FAILED, error=error[:500], answers=b"", key=b"")


def _rows(replay: Replay) -> QuerySet[Replay]:
    return Replay.objects.filter(pk=replay.pk)
