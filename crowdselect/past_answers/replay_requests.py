"""Replays as jobs: requested, and played in turns. Nothing else is stored.

A small file is read at once, so that its faults are known in the request.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from time import monotonic, process_time
from typing import Any

from django.db import transaction

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
from selection.models import QuestionSet, Run
from selection.outbox import jobs
from selection.runs.roster import worker_prices

from . import plays, records
from .arrays import RecordedAnswers
from .models import Replay
from .plays import PlannedPlay
from .records import AnswerRecord
from .settings import check_replay

SMALL = 1_000_000  # bytes that are read in the request
A_TURN = 5.0  # seconds after which a task makes room for others
ENOUGH = 60.0  # seconds after which no further seed is begun
FAULTS_KEPT = 200  # rows with an error that the page shows
FACTS = ("left_out", "idle", "repeated", "bad", "unread")
PICKED, LEAVE_OUT = "picked", "leave_out"  # in the column “wanted”, beside the plans

KEPT = timedelta(days=1)
State = Replay.State


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
    replay.wanted["ask"] = may_ask and bool(source.answers)
    _ask_or_read(replay)
    jobs.add_job(replay, KEPT)
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
    _read_answers(replay, bounded=False)
    record = _load_record(replay)
    for planned in watch(plays.list_plays(wanted)):
        replay.plays.append(plays.play(record, wanted, replay.facts, planned))
    if all("refused" in one for one in replay.plays):
        raise Refused(replay.plays[0]["refused"])
    replay.state = State.DONE
    return replay


def _build_replay(source: Source, goal: dict[str, Any], **owner: Any) -> Replay:
    _refuse_source(source)
    files = [file for file in (source.answers, source.key) if file]
    wanted = {
        "goal": goal,
        "run": source.run and source.run.pk,
        "question_set": source.question_set and source.question_set.pk,
        "names": [file.name for file in files],
    }
    if source.answers:
        wanted |= {LEAVE_OUT: source.answers.leave_out, PICKED: dict(source.answers.picked)}
        wanted["size"] = len(source.answers.content)
    content = b"".join(file.content for file in files)
    name = source.name[:200]
    return Replay(
        kind=Replay.KINDS[0], resumes=True, name=name, wanted=wanted, content=content, **owner
    )


def _ask_or_read(replay: Replay) -> None:
    """Read small files now, or wait for a person's choices. Raises Refused."""
    if replay.wanted["ask"] and find_replay_columns(replay):
        replay.state = State.ASKING
        return
    replay.state = State.WAITING
    if len(replay.content) <= SMALL:
        _read_or_ask(replay)


def _read_or_ask(replay: Replay) -> None:
    try:
        _read_answers(replay)
    except FaultyRows as refusal:
        if not replay.wanted["ask"]:
            raise
        first = [[row.line, row.why] for row in refusal.rows[:FAULTS_KEPT]]
        faults = {"name": refusal.name, "bad": len(refusal.rows), "faults": first}
        replay.wanted["faults"], replay.state = faults, State.ASKING


def find_replay_columns(replay: Replay) -> OpenColumns | None:
    """Find a person's open choices for a file, or None. Raises Refused if it is unreadable."""
    if faults := replay.wanted.get("faults"):
        return OpenColumns(ANSWERS, **faults)
    return find_open_columns(*_files_of(replay)) if replay.wanted["names"] else None


def choose_columns(replay: Replay, role: str, plan: ColumnPlan) -> None:
    """Read a file of a waiting replay by this plan. Raises Refused.

    role  of the file: "answers" or "key"
    """
    choose(replay, {role: asdict(plan)})


def choose(replay: Replay, chosen: Mapping[str, Any]) -> None:
    """Read the files of a waiting replay as chosen: by plans, results, rows. Raises Refused."""
    with transaction.atomic():
        locked = Replay.objects.select_for_update().get(pk=replay.pk)
        if locked.state == State.ASKING:
            locked.wanted |= {**chosen, "faults": None}
            _ask_or_read(locked)
            locked.save()
            jobs.hand_out(locked)


def _refuse_source(source: Source) -> None:
    if source.run and (source.answers or source.question_set):
        raise Refused("Choose one: a file, a run, or a question set.")
    if source.key and not source.answers:
        raise Refused("The key needs a file with answers as well.")
    if not (source.answers or source.run or source.question_set):
        raise Refused("Upload a file with answers, or choose a run or a question set.")
    if source.key and source.question_set:
        raise Refused("Give the key as a file or as a question set: one of the two.")


def _read_answers(replay: Replay, bounded: bool = True) -> None:
    """Read files, run or question set into the record. Raises Refused."""
    facts: dict[str, Any] = {}
    if replay.wanted["names"]:
        answers, key = _files_of(replay)
        keyed = read_keyed_answers(answers, key)
        refuse_open_choices(keyed, answers)
        record = records.record_of_files(keyed, replay.name, bounded)
        facts = {name: getattr(keyed, name) for name in FACTS}
    elif replay.run:
        record = records.record_of_run(replay.run)
        facts = _model_facts(replay.run, replay.goal.get("price"))
    elif replay.question_set:
        record = records.record_of_question_set(replay.question_set)
    else:
        raise NotFound("The answers were deleted meanwhile.")
    crowd = record.crowd()
    check_replay(crowd, plays.build_settings(replay.goal, record.scored))
    facts |= {"scores": True} if record.scored else {}
    facts |= {
        "workers": len(crowd.workers),
        "questions": len(record.asked),
        "answers": len(record.rows),
    }
    replay.result = {"facts": facts, "tallies": record.tallies(), "plays": []}
    replay.content = record.pack()


def _load_record(replay: Replay) -> RecordedAnswers:
    return RecordedAnswers(AnswerRecord.unpack(bytes(replay.content)).crowd())


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
    wanted, content = replay.wanted, bytes(replay.content)
    plans = {role: ColumnPlan(**wanted[role]) for role in (ANSWERS, KEY) if role in wanted}
    ways = {"picked": wanted[PICKED], "leave_out": wanted[LEAVE_OUT]}
    names, size = wanted["names"], wanted["size"]
    answers = File(names[0], content[:size], plans.get(ANSWERS), **ways)
    if len(names) > 1:
        return answers, File(names[1], content[size:], plans.get(KEY), **ways)
    questions = replay.question_set and replay.question_set.questions.filter(retired=None)
    return answers, key_of_questions(questions) if questions else None


# -- working


@jobs.perform(*Replay.KINDS, model=Replay, rename_workers=Replay.rename_workers)
def play_for_a_turn(replay: Replay) -> dict[str, Any] | None:
    """Read the answers if that is still to do, and play."""
    if replay.result is None:
        _read_or_ask(replay)
        jobs.store_turn(replay, "wanted", "content", "result")
    record = _load_record(replay) if replay.result else None
    end = monotonic() + A_TURN
    while record and not _has_enough(replay):
        _play_next(replay, record)
        if monotonic() > end:
            replay.state = State.WAITING
            break
    return replay.result


def _play_next(replay: Replay, record: RecordedAnswers) -> None:
    planned, started = plays.list_plays(replay.goal), process_time()
    result = plays.play(record, replay.goal, replay.facts, planned[len(replay.plays)])
    replay.plays.append(result | {"seconds": process_time() - started})
    replay.progress = round(len(replay.plays) / len(planned), 3)
    jobs.store_turn(replay, "result", "progress")


def _has_enough(replay: Replay) -> bool:
    """Tell if all is played, or a round of all algorithms took the time there is."""
    played = len(replay.plays)
    if played == len(plays.list_plays(replay.goal)):
        return True
    whole_round = (played - plays.FIRST_ROUND) % len(plays.METHODS) == 0
    seconds = sum(one["seconds"] for one in replay.plays)
    return seconds > ENOUGH and played >= plays.FIRST_ROUND and whole_round
