"""What a table's columns mean: the layouts of platforms, known by the names of their columns."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from selection.errors import Refused

from . import column_words as words_of
from .column_words import fold

WORKERS, QUESTIONS, ANSWERS, GOLD = "workers", "questions", "answers", "gold"


@dataclass(frozen=True)
class Field:
    """What a column may be."""

    name: str
    words: str
    needed: bool = True


FIELDS: dict[str, tuple[Field, ...]] = {
    WORKERS: (Field("worker", "the worker's id"), Field("name", "the name", False)),
    QUESTIONS: (
        Field("question", "the question's own name", False),
        Field("prompt", "what the worker reads"),
        Field("answer", "the known answer"),
        Field("choices", "the choices", False),
        Field("kind", "what the worker does", False),
        Field("tolerance", "the tolerance of a number", False),
        Field("grading", "how texts are compared", False),
        Field("image", "a picture", False),
        Field("audio", "a sound", False),
        Field("video", "a film", False),
        Field("alt", "the picture in words", False),
    ),
    ANSWERS: (
        Field("worker", "the worker's id"),
        Field("question", "the question"),
        Field("response", "the answer given"),
        Field("skill", "the skill", False),
    ),
    GOLD: (Field("question", "the task"), Field("answer", "the known answer")),
}


@dataclass(frozen=True)
class Layout:
    """Patterns are of names without capitals, accents, spaces, hyphens and underscores.

    signs       each of them fits some column of such a file
    fields      by field, patterns of its column, the likeliest first
    attributes  pattern of the columns that are kept as attributes of a worker
    only        pattern of a column: rows where it is empty or false are of no use here
    unless      pattern of a column: rows where it is true are of no use here
    repeats     whether a worker has several rows, so that further ones say nothing new
    """

    title: str
    signs: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    attributes: str = ""
    only: str = ""
    unless: str = ""
    repeats: bool = False


# Label Studio's mark of an annotation that is the known answer: its author is no worker.
_GROUND_TRUTH = "groundtruth"
_WORKER = "worker|worker'?sid|workerid|workers|annotator|annotatorid|performer|userid"
_PARTICIPANT = "participantid|participant|prolificid|prolificpid"
_ANYBODY = (
    f"{_WORKER}|{_PARTICIPANT}|completedby|assignment:workerid|"
    f"{words_of.WORKER}|{words_of.PARTICIPANT}"
)
_QUESTION = (
    f"question|questionid|{words_of.QUESTION}",
    "task|taskid",
    "item|itemid|questionkey",
)
_LABEL = "label|agglabel"  # the second is crowd-kit's, aggregated
_RESPONSE = (f"response|{words_of.RESPONSE}", "label", "answer", "choice|output")
_ID = "(id|key|name|question|questionid|task|taskid|item|itemid)"
_TEXT = "(text|question|prompt|sentence|title)"
_SHOWN = "(image|audio|video)?(url)?"
_MEDIA = ("image", "audio", "video")
_SAID = "(response|label|answer|choice|category|result|value)"
_MTURK = ("hitid", "assignmentid", "workerid")
_OF_PROLIFIC = "submissionid|completioncode|startedat"
# What a platform says of one visit, and not of the worker.
_VISIT = (
    "submissionid|status|.*edat|timetaken|completioncode|sessionid|studyid|entry.*|bonus.*|update.*"
)
_ALL_BUT_VISITS = f"(?!({_VISIT})$).*"

LAYOUTS: dict[str, tuple[Layout, ...]] = {
    WORKERS: (
        Layout("MTurk's batch results", _MTURK, {"worker": ("workerid",)}, repeats=True),
        Layout(
            "MTurk's worker file",
            ("workerid", "(current|update).*|.*approvalrate.*"),
            {"worker": ("workerid",)},
            attributes="(?!update).*",
        ),
        Layout(
            "a Prolific export",
            (_PARTICIPANT, _OF_PROLIFIC),
            {"worker": (_PARTICIPANT,)},
            attributes=_ALL_BUT_VISITS,
            repeats=True,
        ),
        Layout(
            "a Toloka-style file",
            ("assignment:workerid",),
            {"worker": ("assignment:workerid",)},
            repeats=True,
        ),
        Layout(
            "a Label Studio export",
            ("completedby", "task", "label"),
            {"worker": ("completedby",)},
            unless=_GROUND_TRUTH,
            repeats=True,
        ),
        Layout(
            "a file of answers",
            (_ANYBODY, "|".join(_QUESTION), "|".join(_RESPONSE)),
            {"worker": (_ANYBODY,)},
            repeats=True,
        ),
        Layout(
            "a list of workers",
            (f"{_ANYBODY}",),
            {"worker": ("worker", _ANYBODY), "name": (f"name|fullname|{words_of.NAME}",)},
            attributes=".+",
        ),
    ),
    QUESTIONS: (
        Layout(
            "a Label Studio export",
            ("completedby", "groundtruth", "label", "task"),
            {
                "question": (rf"data\.{_ID}", "task"),
                "prompt": (rf"data\.{_TEXT}", rf"data\.{_SHOWN}", r"data\..*"),
                "answer": ("label",),
                "choices": ("choices",),
                "kind": ("kind",),
                **{name: (rf"data\.{name}(url)?",) for name in _MEDIA},
            },
            only="groundtruth",
        ),
        Layout(
            "a Toloka-style file",
            ("golden:.*", "input:.*"),
            {
                "question": (f"input:{_ID}",),
                "prompt": (f"input:{_TEXT}", f"input:{_SHOWN}", "input:.*"),
                "answer": (f"golden:{_SAID}", "golden:.*"),
                **{name: (f"input:{name}(url)?",) for name in _MEDIA},
            },
            only="golden:.*",
        ),
        Layout(
            "a list of gold questions",
            (
                f"{words_of.TEXT}|{words_of.QUESTION}|question",
                f"{words_of.CORRECT}|{words_of.RESPONSE}",
            ),
            {
                "prompt": (f"prompt|text|{words_of.TEXT}", f"{words_of.QUESTION}|question"),
                "question": (*_QUESTION, words_of.NUMBER),
                "answer": (words_of.CORRECT, words_of.RESPONSE),
                "choices": (f"choices|options|{words_of.CHOICES}",),
                **{name: (name,) for name in ("kind", "tolerance", "grading", *_MEDIA, "alt")},
            },
        ),
        Layout(
            "a list of gold questions",
            ("prompt|text|questiontext", "answers?|acceptedanswers?|label|gold|correct"),
            {
                "question": _QUESTION,
                "prompt": ("prompt", "text|questiontext"),
                "answer": ("answers?", "acceptedanswers?|gold|correct", "label"),
                "choices": ("choices|options",),
                **{name: (name,) for name in ("kind", "tolerance", "grading", *_MEDIA, "alt")},
            },
        ),
    ),
    ANSWERS: (
        Layout(
            "MTurk's batch results",
            (*_MTURK, r"answer\..*"),
            {
                "worker": ("workerid",),
                "question": (rf"input\.{_ID}", r"input\..*", "hitid"),
                "response": (rf"answer\.{_SAID}", rf"answer\..*{_SAID}", r"answer\..*"),
            },
        ),
        Layout(
            "a Toloka-style file",
            ("assignment:workerid", "output:.*"),
            {
                "worker": ("assignment:workerid",),
                "question": (f"input:{_ID}", "input:.*"),
                "response": (f"output:{_SAID}", "output:.*"),
            },
        ),
        Layout(
            "a Label Studio export",
            ("completedby", "task", "label"),
            {
                "worker": ("completedby",),
                "question": (rf"data\.{_ID}", "task"),
                "response": ("label",),
            },
            unless=_GROUND_TRUTH,
        ),
        Layout(
            "Label Studio's CSV or short JSON",
            ("annotationid", "annotator", "leadtime"),
            {
                "worker": ("annotator",),
                "question": (*_QUESTION, "id"),
                "response": _RESPONSE,
            },
        ),
        Layout(
            "answers by worker",
            (_ANYBODY, "|".join(_QUESTION), "|".join(_RESPONSE)),
            {
                "worker": ("worker", _ANYBODY),
                "question": _QUESTION,
                "response": _RESPONSE,
                "skill": ("skill",),
            },
        ),
    ),
    GOLD: (
        Layout(
            "known answers",
            (
                "|".join(_QUESTION),
                f"answers?|acceptedanswers?|{_LABEL}|gold|correct|{words_of.CORRECT}",
            ),
            {
                "question": ("task", *_QUESTION),
                "answer": (_LABEL, f"answers?|gold|correct|{words_of.CORRECT}"),
            },
        ),
    ),
}

# What a file of each kind is for people, and where it belongs.
ABOUT = {
    WORKERS: ("a file of workers", "import it into a pool"),
    QUESTIONS: ("a file of gold questions", "import it into a question set"),
    ANSWERS: ("a file of answers", "import it into a run"),
}


# A survey as well has a column of workers, and others.
NO_QUESTION = (
    "No column is called as a question of this run. If its columns are questions, say which; if "
    "each row is one answer, choose the columns with the question and the answer. A file of "
    "workers belongs into a pool."
)


@dataclass
class ColumnPlan:
    """How a table is read.

    title       what it looks like, in words; empty where nobody knows
    fields      by field, the name of its column
    attributes  columns that are kept as attributes of a worker
    headed      whether the first row names the columns
    only        column that says by being empty or false that a row is of no use
    unless      column that says by being true that a row is of no use
    repeats     whether further rows of a worker are expected
    remembered  whether it is how such a file was read before
    questions   of a survey, by column the key of the question that it has the answers to
    skipped     rows below the header that name columns again
    header      line of the header where something stands above it; 0: it is the first
    """

    kind: str
    title: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    attributes: list[str] = field(default_factory=list)
    headed: bool = True
    only: str = ""
    unless: str = ""
    repeats: bool = False
    remembered: bool = False
    questions: dict[str, str] = field(default_factory=dict)
    skipped: int = 0
    header: int = 0

    def missing_fields(self) -> list[Field]:
        needed = [one for one in FIELDS[self.kind] if one.needed]
        if self.questions:
            needed = [one for one in needed if one.name == "worker"]
        return [one for one in needed if one.name not in self.fields]

    def stored(self) -> dict[str, Any]:
        return asdict(self)


def normalise_column(column: str) -> str:
    """The name as patterns know it."""
    return re.sub(r"[\s_-]", "", column).casefold()


def columns_signature(columns: Sequence[str]) -> str:
    """The same for files with the same columns, in whatever order."""
    return hashlib.sha256("\n".join(sorted(map(normalise_column, columns))).encode()).hexdigest()


def recognise_columns(kind: str, columns: Sequence[str]) -> ColumnPlan:
    """The likeliest plan for these columns; fields that are not found are missing in it."""
    if kind == WORKERS and len(columns) == 1 and _is_id(columns[0]):
        return ColumnPlan(kind, "a list of ids", {"worker": columns[0]}, headed=False)
    for layout in LAYOUTS[kind]:
        if _layout_fits(layout, columns):
            return _build_plan(kind, layout, columns)
    usual = LAYOUTS[kind][-1]
    found = _build_plan(kind, usual, columns)
    found.title = ""
    return found


def _is_id(cell: str) -> bool:
    """A name of a column has neither digits nor an @."""
    return bool(re.search(r"[\d@]", cell)) and not re.fullmatch(_ANYBODY, fold(cell))


def _layout_fits(layout: Layout, columns: Sequence[str]) -> bool:
    return all(_find_column(columns, [sign]) for sign in layout.signs)


def _find_column(columns: Sequence[str], patterns: Sequence[str], taken: Sequence[str] = ()) -> str:
    """The first column that the first of these patterns fits; empty where none does."""
    free = [column for column in columns if column and column not in taken]
    hits = (c for pattern in patterns for c in free if re.fullmatch(pattern, fold(c)))
    return next(hits, "")


def _build_plan(kind: str, layout: Layout, columns: Sequence[str]) -> ColumnPlan:
    fields: dict[str, str] = {}
    for name, patterns in layout.fields.items():
        column = _find_column(columns, patterns, list(fields.values()))
        if column:
            fields[name] = column
    taken = set(fields.values())
    return ColumnPlan(
        kind,
        layout.title,
        fields,
        attributes=[
            column
            for column in columns
            if column
            and column not in taken
            and re.fullmatch(layout.attributes, normalise_column(column))
        ],
        only=_find_column(columns, [layout.only]) if layout.only else "",
        unless=_find_column(columns, [layout.unless]) if layout.unless else "",
        repeats=layout.repeats,
    )


def header_test(kind: str) -> Callable[[list[str], Sequence[list[str]]], bool]:
    """Whether a row names all columns that a file of this kind needs."""
    return lambda columns, later: not recognise_columns(kind, columns).missing_fields()


def suggest_other_kind(kind: str, columns: Sequence[str]) -> str:
    """Where such a file belongs if it is of another kind, in a sentence; else empty."""
    if kind not in ABOUT:
        return ""
    # A single one that is missing has another name; then a column of workers says nothing.
    known = (
        ABOUT
        if len(recognise_columns(kind, columns).missing_fields()) > 1
        else (QUESTIONS, ANSWERS)
    )
    for other in known:
        fits = any(_layout_fits(layout, columns) for layout in LAYOUTS[other])
        if other != kind and fits and not recognise_columns(other, columns).missing_fields():
            words, remedy = ABOUT[other]
            if (kind, other) == (ANSWERS, WORKERS) and _is_bare(columns):
                return NO_QUESTION
            return f"This looks like {words}, not like {ABOUT[kind][0]}: {remedy}."
    return ""


def _is_bare(columns: Sequence[str]) -> bool:
    """Whether nothing but a column with ids tells of workers."""
    plan = recognise_columns(WORKERS, columns)
    return plan.title == LAYOUTS[WORKERS][-1].title and set(plan.fields) == {"worker"}


def apply_column_choices(
    plan: ColumnPlan, columns: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> ColumnPlan:
    """This plan with these changes. Raises Refused for a name that is not known.

    pairs  (column, field); "attribute" for the field keeps a column, "" leaves it out
    """
    known = [one.name for one in FIELDS[plan.kind]] + ["attribute"] * (plan.kind == WORKERS)
    for column, name in pairs:
        if column not in columns:
            there = ", ".join(filter(None, columns))
            raise Refused(f"There is no column “{column}”; the file has {there}.")
        if name and name not in known:
            raise Refused(f"“{name}” is nothing a column can be: choose {', '.join(known)}.")
    said = {column for column, _ in pairs}
    plan.remembered = False
    plan.fields = {name: column for name, column in plan.fields.items() if column not in said}
    plan.fields |= {name: column for column, name in pairs if name not in ("", "attribute")}
    plan.questions = {c: key for c, key in plan.questions.items() if c not in said}
    if {"question", "response"} & set(plan.fields):  # it says that a row is one answer
        plan.questions = {}
    kept = [column for column in plan.attributes if column not in said]
    plan.attributes = kept + [column for column, name in pairs if name == "attribute"]
    return plan


def refuse_missing(plan: ColumnPlan, header: Sequence[str], name: str, line: int = 1) -> None:
    """Raises Refused where a column that is needed was not found."""
    missing = plan.missing_fields()
    if not missing:
        return
    hint = suggest_other_kind(plan.kind, header)
    if hint:
        raise Refused(f"{name}: {hint}")
    wanted = ", ".join(one.name for one in FIELDS[plan.kind] if one.needed)
    raise Refused(
        f"{name}, line {line}: there is no column “{missing[0].name}”; the file must have "
        f"{wanted}, and it has {', '.join(filter(None, header))}. If another row names the "
        "columns, say which."
    )
