"""Layouts of files by platform, as patterns of their columns' names."""

from collections.abc import Mapping
from dataclasses import dataclass

from . import column_words
from .column_plan import ANSWERS, GOLD, QUESTIONS, WORKERS


class Only(str):
    """A pattern that counts only if a single column matches it."""


@dataclass(frozen=True)
class Layout:
    """A layout of files. Patterns match names as ``column_words.fold`` returns them.

    signs       patterns that must each match some column of such a file
    fields      by field, patterns of its column, the likeliest first
    attributes  pattern of the columns kept as attributes of a worker
    only        pattern of a column: rows with an empty or false value there are skipped
    unless      pattern of a column: rows with a true value there are skipped
    without     pattern of a column that such a file does not have
    repeats     True if a worker has several rows, so that further ones are not reported
    """

    title: str
    signs: tuple[str, ...]
    fields: Mapping[str, tuple[str, ...]]
    attributes: str = ""
    only: str = ""
    unless: str = ""
    without: str = ""
    repeats: bool = False


# Label Studio's mark of an annotation that is the known answer: its author is not a worker.
_GROUND_TRUTH = "groundtruth"
_WORKER = "worker|worker'?sid|workerid|workers|annotator|annotatorid|performer|userid"
_PARTICIPANT = "participant(private|public)?id|recordid|participant|prolificid|prolificpid"
ANY_WORKER = (
    f"{_WORKER}|{_PARTICIPANT}|completedby|assignment:workerid|"
    f"{column_words.WORKER}|{column_words.PARTICIPANT}"
)
ANY_MODEL = "model|model(name|id)|llm|modell|modele|modelo"
_QUESTION = (
    f"question|questionid|{column_words.QUESTION}",
    "task|taskid",
    "item|itemid|questionkey",
)
_LABEL = "label|agglabel"  # the second is crowd-kit's, aggregated
_RESPONSE = (f"response|{column_words.RESPONSE}", "label", "answer", "choice|output")
RESPONSES = _RESPONSE
ITEMS = (
    "(sample|example|doc|instance|datapoint)id|id|idx",
    *_QUESTION,
    "prompt|input|instruction|text|name",
)
# Columns with the correct answers, in a file of answers or in a key.
KNOWN = f"gold|goldlabel|goldanswer|correctanswer|groundtruth|{column_words.CORRECT}"
_PROMPT = (
    f"prompt|text|{column_words.TEXT}",
    r"questiontext|problem|instruction|inputs?|query|(question\.)?stem|messages|conversation",
    f"{column_words.QUESTION_TEXT}|question",
    Only(r"vars\..*"),
)
_ACCEPTED = (
    column_words.CORRECT,
    column_words.RESPONSE,
    "answers?|acceptedanswers?",
    f"{KNOWN}|gold",
    column_words.TRUE,
    "label",
    "answer(key|letter|idx|index)|correct(option|choice|letter|index)|target|ideal",
    "expected(output|answer)?[0-9]*|finalanswer|reference|output|assert",
)
_ID = "(id|key|name|question|questionid|task|taskid|item|itemid)"
_TEXT = "(text|question|prompt|sentence|title)"
_SHOWN = "(image|audio|video)?(url)?"
_MEDIA = ("image", "audio", "video")
_DETAILS = {
    "kind": ("kind",),
    "tolerance": (column_words.TOLERANCE,),
    "grading": ("grading",),
    **{name: (pattern,) for name, pattern in column_words.MEDIA.items()},
}
_SAID = "(response|label|answer|choice|category|result|value)"
_MTURK = ("hitid", "assignmentid", "workerid")
PROLIFIC = "a Prolific export"
_OF_PROLIFIC = "submissionid|completioncode|startedat"
_USUAL = f"(?!({column_words.VISIT})$).*"
_LASTING = f"(?!({column_words.VISIT}|status|.*edat|entry.*|bonus.*|update.*)$).*"

_PRODIGY = ("inputhash", "taskhash")
_APPEN = ("unitid", "workerid", "trust|trusted|golden|channel|judgmentid")
_GORILLA = ("participantprivateid", "zonetype|spreadsheetrow|trialnumber")

LAYOUTS: dict[str, tuple[Layout, ...]] = {
    WORKERS: (
        Layout("MTurk's batch results", _MTURK, {"worker": ("workerid",)}, repeats=True),
        Layout(
            "an Appen report",
            _APPEN,
            {"worker": ("workerid",)},
            attributes="country|region|city|channel|trust",
            repeats=True,
        ),
        Layout(
            "a Prodigy export", _PRODIGY, {"worker": ("annotatorid", "sessionid")}, repeats=True
        ),
        Layout("a Gorilla export", _GORILLA, {"worker": ("participantprivateid",)}, repeats=True),
        Layout(
            "MTurk's worker file",
            ("workerid", "(current|update).*|.*approvalrate.*"),
            {"worker": ("workerid",)},
            attributes=_LASTING,
        ),
        Layout(
            PROLIFIC,
            (_PARTICIPANT, _OF_PROLIFIC),
            {"worker": (_PARTICIPANT,)},
            attributes=_LASTING,
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
            (ANY_WORKER, "|".join(_QUESTION), "|".join(_RESPONSE)),
            {"worker": (ANY_WORKER,)},
            repeats=True,
        ),
        Layout(
            "a list of workers",
            (f"{ANY_WORKER}",),
            {"worker": ("worker", ANY_WORKER), "name": (f"name|fullname|{column_words.NAME}",)},
            attributes=_USUAL,
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
                "answer": (f"golden:{_SAID}", Only("golden:.*")),
                **{name: (f"input:{name}(url)?",) for name in _MEDIA},
            },
            only="golden:.*",
        ),
        Layout(
            "a Prodigy export",
            _PRODIGY,
            {"prompt": ("text", "html", "image"), "answer": ("accept",), "choices": ("options",)},
            only="answer",
        ),
        Layout(
            "a list of gold questions",
            ("|".join(_PROMPT), "|".join(_ACCEPTED)),
            {
                "prompt": _PROMPT,
                "question": (*_QUESTION, column_words.NUMBER, "qid|idx|uid|(sample|example|doc)id"),
                "answer": _ACCEPTED,
                "choices": (f"choices|options|{column_words.CHOICES}", r"(question\.)?choices.*"),
                "labels": (r"choices\.label|(choice|option)?labels",),
                **_DETAILS,
            },
            without=f"{ANY_WORKER}|{ANY_MODEL}",
        ),
    ),
    ANSWERS: (
        Layout(
            "MTurk's batch results",
            (*_MTURK, r"answer\..*"),
            {
                "worker": ("workerid",),
                "question": (rf"input\.{_ID}", r"input\..*", "hitid"),
                "response": (rf"answer\.{_SAID}", rf"answer\..*{_SAID}", Only(r"answer\..*")),
            },
        ),
        Layout(
            "a Toloka-style file",
            ("assignment:workerid", "output:.*"),
            {
                "worker": ("assignment:workerid",),
                "question": (f"input:{_ID}", "input:.*"),
                "response": (f"output:{_SAID}", Only("output:.*")),
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
            "an Appen report",
            _APPEN,
            {"worker": ("workerid",), "question": ("unitid",), "response": _RESPONSE},
        ),
        Layout(
            "a Prodigy export",
            _PRODIGY,
            {
                "worker": ("annotatorid", "sessionid"),
                "question": ("text", "html", "image", "inputhash"),
                "response": ("accept",),
            },
            only="answer",
        ),
        Layout(
            "a Gorilla export",
            _GORILLA,
            {
                "worker": ("participantprivateid",),
                "question": ("spreadsheetrow", "trialnumber"),
                "response": ("response",),
            },
            only="response",
        ),
        Layout(
            "Label Studio's CSV or short JSON",
            ("annotationid", "annotator", "leadtime"),
            {"worker": ("annotator",), "question": (*_QUESTION, "id"), "response": _RESPONSE},
        ),
        Layout(
            "answers by worker",
            (f"{ANY_WORKER}|{ANY_MODEL}", "|".join(_QUESTION), "|".join(_RESPONSE)),
            {
                "worker": ("worker", ANY_WORKER, ANY_MODEL),
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
                f"answers?|acceptedanswers?|{_LABEL}|{KNOWN}|{column_words.TRUE}",
            ),
            {
                "question": ("task", *_QUESTION),
                "answer": (_LABEL, f"answers?|{KNOWN}", column_words.TRUE),
            },
        ),
    ),
}
