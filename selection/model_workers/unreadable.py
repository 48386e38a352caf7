"""Replies without an answer: told apart, counted by model, and asked about before they decide.

A run pauses when more than a fifth of a model's first ten replies give no answer. A person then has
the stored replies read by another rule, counts them as wrong, or sets the model aside
(``selection.runs.unreadable_models``).
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Count, Q

from selection import db_clock, wakeups
from selection.db import bulk
from selection.engine import rejudge
from selection.history import events
from selection.limits import LONGEST_RESPONSE
from selection.models import Answer, Candidate, Endpoint, ModelCall, Run
from selection.models.model_workers import ModelCallQuerySet
from selection.texts import counted

from .parsing import is_refusal, read_reply, validate_pattern

FIRST, MOST_LOST, WARNED = 10, 2, 0.02  # replies; lost ones among them; share that is warned of
EXAMPLES, EXAMPLE_LENGTH = 3, 120
NOT_READABLE, NO_ANSWER = "Not readable: {}", "No answer could be read from the reply."
Result = ModelCall.Result
LOST = (Result.EMPTY, Result.CUT, Result.REFUSED, Result.UNREADABLE)
# The words for a lost reply, and the setting that would help.
WORDS = {
    Result.CUT: ("were cut off", "“max_tokens” is too small"),
    Result.EMPTY: ("were empty", "the model may spend its tokens on thoughts: raise “max_tokens”"),
    Result.REFUSED: ("were refusals", "change the prompt"),
    Result.UNREADABLE: (
        "had no answer that can be read",
        "choose another “parsing”, or ask for JSON by “structured”",
    ),
}


@dataclass(frozen=True)
class ReplyCount:
    """The replies of a model in a run. asking: the run is paused until a person has decided."""

    worker: str
    replies: int
    right: int
    wrong: int
    empty: int
    cut_off: int
    refused: int
    unreadable: int
    asking: bool
    examples: list[str] = field(default_factory=list)

    @property
    def lost(self) -> int:
        return self.empty + self.cut_off + self.refused + self.unreadable

    @property
    def warned(self) -> bool:
        return self.lost > WARNED * self.replies

    @property
    def advice(self) -> str:
        """Number of lost replies and the setting that would help; empty without any."""
        counts = zip(LOST, (self.empty, self.cut_off, self.refused, self.unreadable), strict=True)
        parts = [
            f"{WORDS[kind][1]}: {n} of {counted(self.replies, 'reply')} {WORDS[kind][0]}"
            for kind, n in sorted(counts, key=lambda pair: -pair[1])
            if n
        ]
        return "; ".join(parts)


def classify(answer: str | None, reply: str, finish: str) -> str:
    """Tell how the reply ended: one without an answer is not a wrong answer."""
    if answer is not None:
        return str(Result.READ)
    if finish == "length":
        return str(Result.CUT)
    if finish in ("content_filter", "refusal") or is_refusal(reply):
        return str(Result.REFUSED)
    return str(Result.UNREADABLE if reply.strip() else Result.EMPTY)


def describe_response(answer: str | None, reply: str) -> str:
    """Choose the response to record; one that is not readable can match no accepted answer."""
    return answer or NOT_READABLE.format(reply)[:LONGEST_RESPONSE]


def count_replies(run: Run) -> list[ReplyCount]:
    rows = run.model_calls.replied().order_by()
    counts: dict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for worker, result, n, hits in rows.values_list("worker", "result").annotate(
        n=Count("pk"), right=Count("pk", filter=Q(assignment__answer__right=True))
    ):
        counts[worker][result] = (n, hits)
    seats = run.candidates.filter(worker__in=counts, skill=0).select_related("worker")
    losers = [worker for worker, results in counts.items() if set(results) & set(LOST)]
    examples = _list_examples(run, losers)
    return [
        build_count(
            seat.worker.key,
            seat.unreadable == Candidate.Unreadable.ASKING and not seat.gone,
            counts[seat.worker_id],
            examples.get(seat.worker_id, []),
        )
        for seat in seats.order_by("worker__key")
    ]


def pause_runs(calls: ModelCallQuerySet) -> None:
    """Pause the runs of these calls in which a model loses too many of its first replies."""
    losses = calls.replied().filter(result__in=LOST).exclude(run=None).order_by()
    asking: dict[int, list[int]] = defaultdict(list)
    for run_id, worker in losses.values_list("run", "worker").distinct():
        if _loses_too_many(run_id, worker):
            asking[run_id].append(worker)
    for run_id, workers in sorted(asking.items()):
        _pause_run(run_id, workers)


def list_asking(run: Run) -> list[str]:
    """List the models that wait for a decision on their replies."""
    rows = run.candidates.filter(unreadable=Candidate.Unreadable.ASKING, gone="", skill=0)
    return list(rows.order_by("worker__key").values_list("worker__key", flat=True))


def reread_replies(run: Run, parsing: str, pattern: str, who: str = "", why: str = "") -> str:
    """Read the stored replies of all models of a run by this rule, and grade them again.

    Later replies are read by it too. No call is made. Return what changed. Raises Refused for an
    invalid rule.
    """
    validate_pattern(parsing, pattern)
    endpoints = Endpoint.objects.filter(worker__candidates__run=run)
    endpoints.update(parsing=parsing, pattern=pattern)
    rows = run.model_calls.replied().exclude(reply="").select_related("question")
    read: dict[int, str | None] = {}
    for call in rows.order_by("pk").iterator(500):  # before the transaction: it takes its time
        read[call.pk] = read_reply(parsing, pattern, call.question, call.reply)
    return _store_readings(run, read, f"by the rule “{parsing}”", who, why)


@transaction.atomic
def _store_readings(run: Run, read: Mapping[int, str | None], rule: str, who: str, why: str) -> str:
    locked = Run.objects.locked(run.pk)
    if locked is None:
        return ""
    calls = list(
        ModelCall.objects.filter(pk__among=[*read]).select_related("question").order_by("attempt")
    )
    _store_results(calls, read)
    regraded = _regrade_answers(calls)
    asking = locked.candidates.filter(unreadable=Candidate.Unreadable.ASKING)
    for row in asking:
        if not _loses_too_many(run.pk, row.worker_id):
            asking.filter(pk=row.pk).update(unreadable="")
    verdict = rejudge.rejudge(locked)
    count = sum(answer is not None for answer in read.values())
    note = f"{len(read)} stored replies were read again {rule}: {count} give an answer."
    text = f"{note} {counted(regraded, 'answer')} changed. {verdict}"
    events.write_event(locked, "regrade", text, who, why)
    wakeups.request_step(run.pk)
    return note


def _store_results(calls: Sequence[ModelCall], read: Mapping[int, str | None]) -> None:
    for call in calls:
        answer = read[call.pk]
        if answer is not None or call.result not in LOST:
            call.result = classify(answer, call.reply, "")
            call.problem = NO_ANSWER if answer is None else ""
        call.answer = answer or ""
    columns: dict[str, Sequence[str]] = {
        name: [getattr(call, name) for call in calls] for name in ("result", "answer", "problem")
    }
    bulk.update_rows(ModelCall, [call.pk for call in calls], columns)


def _regrade_answers(calls: Sequence[ModelCall]) -> int:
    """Give each answer the first reading of its calls; return how many changed."""
    first: dict[int, ModelCall] = {}
    for call in calls:  # by attempt
        if call.assignment_id is not None:
            first_call = first.setdefault(call.assignment_id, call)
            if not first_call.answer and call.answer:
                first[call.assignment_id] = call
    answers = Answer.objects.filter(assignment__id__among=[*first], expired=False)
    changed = []
    for answer in answers:
        call = first[answer.assignment_id]
        response = describe_response(call.answer, call.reply)
        if answer.response and response != answer.response:
            answer.response, answer.right = response, call.question.grade(response)
            changed.append(answer)
    Answer.objects.bulk_update(changed, ["response", "right"], 500)
    return len(changed)


def _loses_too_many(run_id: int, worker: int) -> bool:
    """Tell if too many of the model's first answers are lost, after all attempts at each."""
    rows = ModelCall.objects.replied().filter(
        run=run_id, worker=worker, assignment__answer__isnull=False
    )
    ends: dict[int | None, str] = {}
    calls = rows.order_by("pk").values_list("assignment_id", "result")[: 3 * FIRST]
    for assignment, result in calls:
        if ends.get(assignment) != Result.READ:
            ends[assignment] = result
    return sum(result in LOST for result in list(ends.values())[:FIRST]) > MOST_LOST


@transaction.atomic
def _pause_run(run_id: int, workers: Collection[int]) -> None:
    run = Run.objects.locked(run_id)
    if run is None or run.status not in (Run.Status.RUNNING, Run.Status.PAUSED):
        return
    rows = run.candidates.filter(worker__in=workers, gone="", unreadable="")
    keys = sorted(set(rows.values_list("worker__key", flat=True)))
    if not keys:
        return
    rows.update(unreadable=Candidate.Unreadable.ASKING)
    if run.status == Run.Status.RUNNING:
        run.status, run.paused = Run.Status.PAUSED, db_clock.database_now()
        run.save(update_fields=["status", "paused"])
    quotes = ", ".join(f"“{key}”" for key in keys)
    events.write_event(run, "pause", f"Paused: too many replies without an answer from {quotes}.")


def build_count(
    worker: str, asking: bool, found: Mapping[str, tuple[int, int]], examples: list[str]
) -> ReplyCount:
    """Build the count from (replies, right answers) by result."""
    read, hits = found.get(Result.READ, (0, 0))
    empty, cut_off, refused, unread = (found.get(kind, (0, 0))[0] for kind in LOST)
    return ReplyCount(
        worker=worker,
        replies=sum(n for n, _ in found.values()),
        right=hits,
        wrong=read - hits,
        empty=empty,
        cut_off=cut_off,
        refused=refused,
        unreadable=unread,
        asking=asking,
        examples=examples,
    )


def _list_examples(run: Run, workers: Collection[int]) -> dict[int, list[str]]:
    examples = {}
    for worker in workers:
        rows = run.model_calls.replied().filter(worker=worker, result__in=LOST)
        last = rows.order_by("-pk").values_list("reply", "problem")[:EXAMPLES]
        examples[worker] = [(reply.strip() or problem)[:EXAMPLE_LENGTH] for reply, problem in last]
    return examples
