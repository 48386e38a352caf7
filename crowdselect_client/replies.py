"""What goes over the wire, as /api/docs has it field by field; times are texts in ISO 8601."""

from typing import Any, Literal, NotRequired, Required, TypedDict

Verdict = Literal["accepted", "rejected", "undecided", "not tested", "settled in", "settled out"]
Outcome = Literal["right", "not right", "too late", "question retired"]
Status = Literal["draft", "running", "paused", "ended"]

# -- what is sent


class WorkerIn(TypedDict):
    worker: str
    name: NotRequired[str]
    attributes: NotRequired[dict[str, str]]


class Grading(TypedDict, total=False):
    number: bool
    tolerance: float | None
    relative: bool
    multiple: bool
    order: bool
    case: bool
    spaces: bool
    no_accents: bool


class QuestionIn(TypedDict):
    question: str
    prompt: str
    accepted: list[str]
    choices: NotRequired[list[str]]
    grading: NotRequired[Grading | None]


class PracticeIn(TypedDict):
    prompt: str
    accepted: list[str]
    choices: NotRequired[list[str]]
    grading: NotRequired[Grading | None]
    number: NotRequired[int]
    explanation: NotRequired[str]
    must: NotRequired[bool]


class Codes(TypedDict, total=False):
    done: str
    screened: str
    nothing: str


class PageIn(TypedDict, total=False):
    pay: float | str | None
    codes: Codes | None
    after: str


class _Tuning(TypedDict, total=False):
    """What a draft may be given and a run may change."""

    epsilon: float
    budget: int | None
    price: float | str | None
    currency: str | None
    slots: int
    slots_per_worker: int
    minutes: int
    hours_to_come: float | None
    enrolling: bool
    enrol_until: str | None
    enrol_most: int | None


class Settings(_Tuning, total=False):
    """Of a run; what is left out is as in the form."""

    name: Required[str]
    pool: Required[int]
    question_set: Required[int]
    k: Required[int]
    algorithm: str
    delta: float
    options: dict[str, Any]
    learn_from: int | None
    quotas: dict[str, Any] | None
    recorded_only: bool
    met: Literal["skip", "out", "again"]
    only: list[str]
    left_out: list[str]
    seed: int | None
    skills: list[dict[str, int]]
    one_kind_each: bool


class Changes(_Tuning, total=False):
    name: str
    concluded: bool
    why: str
    preview: bool


# -- what comes back


class Pool(TypedDict):
    id: int
    name: str
    created: str
    workers: int


class PoolWorker(TypedDict):
    worker: str
    name: str
    attributes: dict[str, Any]


class QuestionSet(TypedDict):
    id: int
    name: str
    instructions: str
    markdown: bool
    tries: int | None
    most_workers: int | None
    created: str
    questions: int


class Question(TypedDict):
    question: str
    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: Grading
    retired: str | None
    retired_why: str


class Practice(TypedDict):
    id: int
    number: int
    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: Grading
    explanation: str
    must: bool


class Media(TypedDict):
    name: str
    type: str
    size: int
    created: str


class FileState(TypedDict):
    id: str
    kind: Literal["workers", "questions", "answers"]
    into: int
    name: str
    state: Literal["open", "reading", "ready", "taken", "failed"]
    looks_like: str
    what: str
    columns: dict[str, str]
    questions: dict[str, str]
    remembered: bool
    header: int
    headed: bool
    percent: int
    fine: int
    outside: int
    bad: int
    passed: int
    error: str
    created: str


class FileRow(TypedDict):
    line: int
    key: str
    says: dict[str, Any]
    new: bool
    why: str


class Page(TypedDict):
    pay: float | None
    currency: str
    codes: dict[str, str]
    after: str


class Row(TypedDict):
    row: int
    result: str
    why: str


class Rows(TypedDict):
    added: int
    changed: int
    unchanged: int
    refused: int
    rows: list[Row]


class _Terms(TypedDict):
    """Of a run and of its selection."""

    epsilon: float
    delta: float
    budget: int | None
    price: float | None
    currency: str
    seed: int
    options: dict[str, Any]
    learned_from: dict[str, Any] | None
    one_kind_each: bool
    promise: str
    over: str
    by_hand: str
    epsilon_reached: float | None
    warnings: list[str]
    population: dict[str, float] | None


class RunRow(TypedDict):
    status: str
    ending: str
    algorithm: str
    k: int
    id: int
    name: str
    state: str
    pool: int
    question_set: int
    created: str
    started: str | None
    ended: str | None


class Progress(TypedDict):
    accepted: int
    rejected: int
    undecided: int
    not_tested: int
    gap: float
    wanted: float
    closed: float
    spent: int
    left: int | None
    counted: int
    out: int
    rate: float


class Wasted(TypedDict):
    answers: int
    budget: int | None
    words: str


class RunState(RunRow, _Terms):
    slots: int
    slots_per_worker: int
    minutes: int
    hours_to_come: float | None
    enrolling: bool
    enrol_until: str | None
    enrol_most: int | None
    join_link: str
    recorded_only: bool
    met: str
    only: list[str]
    left_out: list[str]
    quotas: dict[str, Any] | None
    skills: list[dict[str, Any]]
    progress: Progress
    wasted: Wasted | None
    forecast: dict[str, Any] | None
    needs: list[dict[str, str]]


class Changed(TypedDict):
    changed: dict[str, str]
    run: RunState


class Assignment(TypedDict):
    id: int
    worker: str
    skill: str
    question: str
    prompt: str
    kind: str
    choices: list[str]
    due: str | None


class Claim(TypedDict):
    worker: str
    state: Literal["question", "wait", "paused", "done", "gone", "over", "unknown"]
    assignments: list[Assignment]


class BatchRow(TypedDict):
    assignment: int
    status: int
    kept: bool
    error: str


class Batch(TypedDict):
    taken: int
    results: list[BatchRow]


class RunWorker(TypedDict):
    worker: str
    name: str
    presence: str
    seen: str | None
    by_hand: str
    link: str


class _Worker(TypedDict):
    """Of a worker in a run."""

    worker: str
    name: str
    answers: int
    mean: float | None
    lower: float
    upper: float
    presence: str
    lapsed: int
    by_hand: str
    by_hand_why: str


class Standing(_Worker):
    candidate: int
    out: int
    right: float
    verdict: Verdict
    selected: bool
    decided_in: int | None
    why: str
    by_algorithm: bool
    group: str
    skill: str
    number: int
    expected: float | None
    elsewhere: str


class Selected(_Worker):
    rank: int | None
    verdict: str
    right: int
    group: NotRequired[str]
    skill: NotRequired[str]
    selected_by: str
    expected: NotRequired[float | None]


class Selection(_Terms):
    status: str
    ending: str
    algorithm: str
    k: int
    run: str
    pool: str
    question_set: str
    regraded: str | None
    certified: bool
    named_by: str
    holds: str
    assumptions: str
    quotas: dict[str, Any] | None
    skills: list[dict[str, Any]] | None
    answers_used: int
    assignments: int
    started: str | None
    ended: str | None
    interval: str
    workers: list[Selected]
    taken_out_by_hand: list[Selected]


class Given(TypedDict):
    """An answer, graded."""

    assignment: int
    worker: str
    question: str
    skill: str
    position: int
    response: str
    outcome: Outcome
    at: str
    counted_in: int | None
