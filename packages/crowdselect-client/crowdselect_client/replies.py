"""The types of what goes over the wire; times are texts in ISO 8601.

Generated from the API's OpenAPI document by `make client-types`: do not edit.
"""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Assignment(TypedDict):
    id: int
    worker: str
    skill: str
    question: str
    prompt: str
    kind: str
    choices: list[str]
    due: str | None


class BatchRow(TypedDict):
    assignment: int
    status: int
    kept: bool
    error: str


class BonusBatch(TypedDict):
    key: str
    state: str
    total: float
    bonuses: dict[str, float]


class Call(TypedDict):
    id: int
    worker: str
    question: str
    attempt: int
    state: Literal["sent", "replied", "failed", "interrupted", "reused"]
    sent: str
    closed: str | None
    cost: float
    tokens_in: int | None
    tokens_out: int | None
    milliseconds: int | None
    request_id: str
    reply: str
    result: str
    answer: str
    problem: str


class Changes(TypedDict):
    name: NotRequired[str | None]
    epsilon: NotRequired[float | None]
    budget: NotRequired[int | None]
    price: NotRequired[float | str | None]
    currency: NotRequired[str | None]
    slots: NotRequired[int | None]
    slots_per_worker: NotRequired[int | None]
    minutes: NotRequired[int | None]
    hours_to_come: NotRequired[float | None]
    keep_no_shows: NotRequired[bool | None]
    enrol_until: NotRequired[str | None]
    enrol_most: NotRequired[int | None]
    platform: NotRequired[str | None]
    worker_parameter: NotRequired[str | None]
    completion: NotRequired[str | None]
    completion_url: NotRequired[str | None]
    enrolling: NotRequired[bool | None]
    concluded: NotRequired[bool | None]
    why: NotRequired[str]
    preview: NotRequired[bool]


class Claim(TypedDict):
    worker: str
    state: Literal["question", "wait", "paused", "done", "gone", "over", "unknown"]
    assignments: list[Assignment]


class Codes(TypedDict):
    done: NotRequired[str]
    screened: NotRequired[str]
    nothing: NotRequired[str]


class CodesOut(TypedDict):
    done: str
    screened: str
    nothing: str


class EverybodyOut(TypedDict):
    questions: int
    answers: int
    cost: float | None
    epsilon: float


class FailureOut(TypedDict):
    worker: str
    kind: str
    outcome: str


class FileRow(TypedDict):
    line: int
    key: str
    says: dict[str, bool | int | float | str | list[str] | dict[str, Any] | None]
    new: bool
    why: str


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


class Grading(TypedDict):
    number: NotRequired[bool]
    tolerance: NotRequired[float | None]
    relative: NotRequired[bool]
    multiple: NotRequired[bool]
    order: NotRequired[bool]
    case: NotRequired[bool]
    spaces: NotRequired[bool]
    no_accents: NotRequired[bool]


class GroupOut(TypedDict):
    group: str
    selected: int
    wanted: str
    workers: int


class Invited(TypedDict):
    messages: int
    invited: int
    without_address: int
    unsubscribed: int
    failed: int


class LearnedOut(TypedDict):
    run: str
    pool: str
    question_set: str
    workers: int
    answers: int
    counts_as: int


class LimitsIn(TypedDict):
    least: NotRequired[int]
    most: NotRequired[int | None]


class ListedModels(TypedDict):
    models: list[str]


class LoadOut(TypedDict):
    mean: float
    most: int
    at_most: int


class Media(TypedDict):
    name: str
    type: str
    size: int
    created: str


class Model(TypedDict):
    worker: str
    server: int
    model: str
    system_prompt: str
    template: str
    temperature: float | None
    seed: int | None
    max_tokens: int
    max_completion_tokens: int | None
    reasoning_effort: str
    extra_body: dict[str, Any]
    timeout: float
    structured: bool
    parsing: Literal["auto", "letter", "word", "json", "last line", "regex"]
    pattern: str
    unreadable: Literal["wrong", "retry"]
    reuse: bool
    price_in: float
    price_out: float
    price_call: float
    problem: str
    rests_until: str | None
    notice: str


class ModelChanges(TypedDict):
    server: NotRequired[int | None]
    model: NotRequired[str | None]
    system_prompt: NotRequired[str | None]
    template: NotRequired[str | None]
    temperature: NotRequired[float | None]
    seed: NotRequired[int | None]
    max_tokens: NotRequired[int | None]
    max_completion_tokens: NotRequired[int | None]
    reasoning_effort: NotRequired[str | None]
    extra_body: NotRequired[dict[str, Any] | None]
    timeout: NotRequired[float | None]
    structured: NotRequired[bool | None]
    parsing: NotRequired[Literal["auto", "letter", "word", "json", "last line", "regex"] | None]
    pattern: NotRequired[str | None]
    unreadable: NotRequired[Literal["wrong", "retry"] | None]
    reuse: NotRequired[bool | None]
    price_in: NotRequired[float | None]
    price_out: NotRequired[float | None]
    price_call: NotRequired[float | None]


class ModelServer(TypedDict):
    id: int
    name: str
    url: str
    has_key: bool
    key_variable: str
    requests_per_minute: int | None
    concurrency: int
    extra_headers: dict[str, str]
    extra_query: dict[str, str]
    created: str


class ModelServerChanges(TypedDict):
    name: NotRequired[str]
    url: NotRequired[str]
    key: NotRequired[str]
    key_variable: NotRequired[str]
    requests_per_minute: NotRequired[int | None]
    concurrency: NotRequired[int]
    extra_headers: NotRequired[dict[str, str]]
    extra_query: NotRequired[dict[str, str]]


class ModelServerIn(TypedDict):
    name: str
    url: str
    key: NotRequired[str]
    key_variable: NotRequired[str]
    requests_per_minute: NotRequired[int | None]
    concurrency: NotRequired[int]
    extra_headers: NotRequired[dict[str, str]]
    extra_query: NotRequired[dict[str, str]]


class ModelTest(TypedDict):
    request: str
    reply: str
    answer: str
    milliseconds: int | None
    cost: float
    problem: str


class ModelsStored(TypedDict):
    new: int
    changed: int


class NeedOut(TypedDict):
    kind: str
    words: str
    is_outage: bool


Outcome: TypeAlias = Literal["right", "not right", "too late", "question retired"]


class Page(TypedDict):
    pay: float | None
    currency: str
    codes: CodesOut
    after: str


class PageIn(TypedDict):
    pay: NotRequired[float | str | None]
    codes: NotRequired[Codes | None]
    after: NotRequired[str]


MetItem: TypeAlias = tuple[int, int]


class PlannedCall(TypedDict):
    method: str
    path: str
    body: Any


class PointOut(TypedDict):
    at: float
    answers: tuple[int, int, int] | None
    median: int
    runs: int
    cost: tuple[float, float, float] | None
    feasible: bool
    algorithm: str
    title: str


class Pool(TypedDict):
    id: int
    name: str
    created: str
    workers: int


class PoolWorker(TypedDict):
    worker: str
    name: str
    attributes: dict[str, Any]


class PopulationOut(TypedDict):
    mean: float
    spread: float
    border: float
    p_value: float


class Practice(TypedDict):
    id: int
    number: int
    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: Grading
    explanation: str
    must: bool


class PracticeIn(TypedDict):
    prompt: str
    accepted: list[str]
    choices: NotRequired[list[str]]
    grading: NotRequired[Grading | None]
    number: NotRequired[int]
    explanation: NotRequired[str]
    must: NotRequired[bool]


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


class ProlificState(TypedDict):
    study: str
    groups: dict[str, str]
    submissions: dict[str, int]
    problem: str
    batches: list[BonusBatch]


class Question(TypedDict):
    question: str
    prompt: str
    accepted: list[str]
    choices: list[str]
    grading: Grading
    retired: str | None
    retired_why: str


class QuestionIn(TypedDict):
    prompt: str
    accepted: list[str]
    choices: NotRequired[list[str]]
    grading: NotRequired[Grading | None]
    question: str


class QuestionSet(TypedDict):
    id: int
    name: str
    instructions: str
    markdown: bool
    tries: int | None
    most_workers: int | None
    created: str
    questions: int


class QuotasAskedOut(TypedDict):
    attribute: str
    limits: dict[str, tuple[int | None, int | None]]


class QuotasIn(TypedDict):
    attribute: str
    limits: dict[str, LimitsIn]


class QuotasOut(TypedDict):
    attribute: str
    groups: list[GroupOut]


class ReadCount(TypedDict):
    stored: int


class ReplayDraft(TypedDict):
    run: int
    pool: int
    question_set: int


class ReplayFacts(TypedDict):
    workers: int
    questions: int
    answers: int
    left_out: int
    idle: int
    repeated: int
    bad: int
    scores: bool


class ReplayMethod(TypedDict):
    algorithm: str
    title: str
    ours: bool
    average: bool
    runs: int
    enough: bool
    answers: int
    low: int
    high: int
    share: float
    cost: float | None
    tokens: int | None
    selected: list[str]
    loss: float
    loss_mean: float
    epsilon: float | None
    reach: float | None
    reach_answers: int | None
    untrue: int
    doubts: list[str]


class ReplayPool(TypedDict):
    pool: int


class ReplayWanted(TypedDict):
    k: int
    epsilon: NotRequired[float]
    delta: NotRequired[float]
    budget: NotRequired[int]
    price: NotRequired[float]
    currency: NotRequired[str]
    leave_out: NotRequired[bool]
    run: NotRequired[int]
    metric: NotRequired[str]
    variant: NotRequired[str]
    task: NotRequired[str]
    question_set: NotRequired[int]


class ReplayWorker(TypedDict):
    worker: str
    right: float
    answers: int
    accuracy: float
    best: bool
    methods: list[str]


class Row(TypedDict):
    row: int
    result: str
    why: str


class RowOut(TypedDict):
    algorithm: str
    title: str
    options: dict[str, Any]
    promise: str
    keeps: bool
    fixed_budget: bool
    answers: tuple[int, int, int] | None
    median: int | None
    cost: tuple[float, float, float] | None
    answers_per_worker: LoadOut | None
    feasible: bool
    out_of_questions: float
    out_of_budget: float
    epsilon_at_end: float | None
    loss: float | None
    why: str
    recommended: bool
    runs: int
    finished: int
    cannot: str


class Rows(TypedDict):
    added: int
    changed: int
    unchanged: int
    refused: int
    rows: list[Row]


class RunConnection(TypedDict):
    connection: int
    settings: dict[str, str | bool | int | float]
    on: bool
    problem: str
    polled: str | None


class RunWorker(TypedDict):
    worker: str
    name: str
    presence: str
    seen: str | None
    by_hand: str
    link: str


class Selected(TypedDict):
    rank: int | None
    worker: str
    name: str
    verdict: str
    answers: int
    right: int
    mean: float | None
    lower: float
    upper: float
    group: NotRequired[str]
    skill: NotRequired[str]
    lapsed: int
    presence: str
    by_hand: str
    by_hand_why: str
    selected_by: str
    expected: NotRequired[float | None]


OnlyItem: TypeAlias = str


LeftOutItem: TypeAlias = str


class SkillIn(TypedDict):
    question_set: int
    k: int


class SkillOut(TypedDict):
    skill: str
    k: int


class SkillUsedOut(TypedDict):
    skill: str
    k: int
    answers_used: int


class Source(TypedDict):
    id: str
    name: str


class Spending(TypedDict):
    spent: float
    in_flight: float
    limit: float | None
    forecast: float | None


Status: TypeAlias = Literal["draft", "running", "paused", "ended"]


class TallyIn(TypedDict):
    right: float
    answers: int


class TemporaryLink(TypedDict):
    worker: str
    link: str


class TextPart(TypedDict):
    subject: NotRequired[str]
    body: NotRequired[str]


class ToolCall(TypedDict):
    id: int
    kind: str
    state: str
    made: str
    tries: int
    tried: str | None
    code: int | None
    said: str
    body: str


class ToolConnection(TypedDict):
    id: int
    kind: str
    name: str
    address: str
    settings: dict[str, str | bool | int | float]
    state: str
    problem: str
    checked: str | None


class ToolConnectionChanges(TypedDict):
    name: NotRequired[str | None]
    address: NotRequired[str | None]
    secrets: NotRequired[dict[str, str]]
    settings: NotRequired[dict[str, str | bool | int | float] | None]
    paused: NotRequired[bool | None]


class ToolConnectionIn(TypedDict):
    kind: str
    name: str
    address: NotRequired[str]
    secrets: dict[str, str]
    settings: NotRequired[dict[str, str | bool | int | float]]


Verdict: TypeAlias = Literal[
    "accepted", "rejected", "undecided", "not tested", "settled in", "settled out"
]


class Wasted(TypedDict):
    answers: int
    budget: int | None
    words: str


class WeakeningOut(TypedDict):
    code: str
    sentence: str
    remedy: str


class WorkerIn(TypedDict):
    worker: str
    name: NotRequired[str]
    attributes: NotRequired[dict[str, str | bool | int | float]]
    email: NotRequired[str]


class AheadOut(TypedDict):
    why: str
    paid: int
    committed: int
    paid_cost: float | None
    committed_cost: float | None
    answers: tuple[int, int, int] | None
    median: int | None
    cost: tuple[float, float, float] | None
    total: tuple[int, int, int] | None
    kept: float | None
    finished: int
    runs: int
    epsilon: float | None
    time: str
    hours: float | None
    everybody: EverybodyOut | None
    at: str | None


class Batch(TypedDict):
    taken: int
    results: list[BatchRow]


class CurvesOut(TypedDict):
    epsilon: list[PointOut]
    k: list[PointOut]


class Forecast(TypedDict):
    id: int
    state: str
    progress: float
    error: str
    created: str
    believed: str
    rows: list[RowOut]
    curves: CurvesOut


class Given(TypedDict):
    assignment: int
    worker: str
    question: str
    skill: str
    position: int
    response: str
    outcome: Outcome
    at: str
    counted_in: int | None


class Mail(TypedDict):
    remind_hours: int
    texts: dict[str, dict[str, TextPart]]
    counts: dict[str, dict[str, int]]
    failures: list[FailureOut]


class MailIn(TypedDict):
    remind_hours: NotRequired[int | None]
    texts: NotRequired[dict[str, dict[str, TextPart]]]


class Plan(TypedDict):
    workers: int
    k: int
    epsilon: NotRequired[float]
    delta: NotRequired[float]
    questions: int
    met: NotRequired[list[MetItem]]
    price: NotRequired[float | None]
    budget: NotRequired[int | None]
    goal: NotRequired[Literal["group", "every", "exact"]]
    range: NotRequired[tuple[float, float] | None]
    run: NotRequired[str | None]
    past: NotRequired[list[TallyIn] | None]


class ReplayResult(TypedDict):
    headline: str
    enough: int | None
    answers: int
    cost: float | None
    tokens: int | None
    methods: list[ReplayMethod]
    workers: list[ReplayWorker]
    refused: dict[str, str]


class RunRow(TypedDict):
    id: int
    name: str
    pool: int
    question_set: int
    status: Status
    state: str
    ending: str
    created: str
    started: str | None
    ended: str | None
    algorithm: str
    k: int


class RunState(TypedDict):
    id: int
    name: str
    pool: int
    question_set: int
    status: str
    state: str
    ending: str
    created: str
    started: str | None
    ended: str | None
    k: int
    algorithm: str
    epsilon: float
    delta: float
    budget: int | None
    price: float | None
    currency: str
    by_price: bool
    grouped_by: str
    slots: int
    slots_per_worker: int
    minutes: int
    hours_to_come: float | None
    keep_no_shows: bool
    recorded_only: bool
    enrolling: bool
    enrol_until: str | None
    enrol_most: int | None
    platform: str
    worker_parameter: str
    completion: str
    completion_url: str
    met: str
    only: list[str]
    left_out: list[str]
    seed: int
    one_kind_each: bool
    join_link: str
    options: dict[str, bool | int | float | str | None]
    learned_from: LearnedOut | None
    quotas: QuotasAskedOut | None
    skills: list[SkillOut]
    promise: str
    verdict: str
    over: str
    by_hand: str
    epsilon_reached: float | None
    guaranteed_now: str
    weakenings: list[WeakeningOut]
    warnings: list[str]
    population: PopulationOut | None
    progress: Progress
    wasted: Wasted | None
    forecast: AheadOut | None
    needs: list[NeedOut]


class Selection(TypedDict):
    run: str
    pool: str
    question_set: str
    status: str
    ending: str
    regraded: str | None
    certified: bool
    verdict: str
    promise: str
    named_by: str
    epsilon_reached: float | None
    holds: str
    over: str
    by_hand: str
    guaranteed_now: str
    mean_at_least: float | None
    mean_guarantee: str
    weakenings: list[WeakeningOut]
    warnings: list[str]
    population: PopulationOut | None
    assumptions: str
    algorithm: str
    options: dict[str, Any]
    learned_from: LearnedOut | None
    quotas: QuotasOut | None
    k: int
    skills: list[SkillUsedOut] | None
    one_kind_each: bool
    epsilon: float
    delta: float
    budget: int | None
    price: float | None
    currency: str
    seed: int
    answers_used: int
    assignments: int
    started: str | None
    ended: str | None
    interval: str
    workers: list[Selected]
    taken_out_by_hand: list[Selected]


class Settings(TypedDict):
    name: str
    pool: int
    question_set: int
    k: int
    algorithm: NotRequired[
        Literal[
            "certified",
            "universal",
            "each-good",
            "adaptive-top-k",
            "improved-top-k",
            "lucb",
            "kl-lucb",
            "kl-racing",
            "ugape-c",
            "ugape-v",
            "halving",
            "opt-mai",
            "clucb-pac",
            "lil-ucb",
            "lil-lucb",
            "lucb-plus-plus",
            "pair-lucb",
            "lil-rand-lucb",
            "lil-clucb",
            "batch-racing",
            "credible",
            "uniform",
            "sr",
            "sar",
            "csar",
            "gap-e",
            "ugape-b",
            "adaptive-top-k-budget",
            "opt-mai-budget",
            "multi-sar",
            "multi-ugape",
        ]
    ]
    epsilon: NotRequired[float]
    delta: NotRequired[float]
    budget: NotRequired[int | None]
    price: NotRequired[float | str | None]
    currency: NotRequired[str | None]
    by_price: NotRequired[bool]
    grouped_by: NotRequired[str]
    slots: NotRequired[int]
    slots_per_worker: NotRequired[int]
    minutes: NotRequired[int]
    hours_to_come: NotRequired[float | None]
    keep_no_shows: NotRequired[bool]
    recorded_only: NotRequired[bool]
    enrolling: NotRequired[bool]
    enrol_until: NotRequired[str | None]
    enrol_most: NotRequired[int | None]
    platform: NotRequired[Literal["", "prolific", "connect", "besample", "sona", "mturk", "custom"]]
    worker_parameter: NotRequired[str]
    completion: NotRequired[Literal["redirect", "code"]]
    completion_url: NotRequired[str]
    met: NotRequired[Literal["skip", "out", "again"]]
    only: NotRequired[list[OnlyItem]]
    left_out: NotRequired[list[LeftOutItem]]
    seed: NotRequired[int | None]
    one_kind_each: NotRequired[bool]
    options: NotRequired[dict[str, bool | int | float | str | None]]
    learn_from: NotRequired[int | None]
    quotas: NotRequired[QuotasIn | None]
    skills: NotRequired[list[SkillIn]]


class Standing(TypedDict):
    candidate: int
    worker: str
    name: str
    answers: int
    out: int
    right: float
    mean: float | None
    lower: float
    upper: float
    verdict: Verdict
    selected: bool
    decided_in: int | None
    why: str
    presence: str
    lapsed: int
    by_hand: str
    by_hand_why: str
    by_algorithm: bool
    group: str
    skill: str
    number: int
    expected: float | None
    elsewhere: str


class Changed(TypedDict):
    changed: dict[str, str]
    run: RunState


class Replay(TypedDict):
    id: str
    name: str
    state: Literal["reading", "working", "done", "failed"]
    progress: float
    error: str
    created: str
    facts: ReplayFacts
    result: ReplayResult
