"""No text takes more time than in proportion to its length, however it was made."""

import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from types import FrameType

import pytest
from genai_prices.data import providers

from selection.errors import Refused
from selection.grading import keys, numbers, recognition, rules
from selection.imports import column_patterns, column_words, gold_cells, platforms, surveys
from selection.imports.readers import table
from selection.model_workers import parsing
from selection.model_workers.replies import choices
from selection.models import Endpoint
from selection.outside_text import clean_text, parse_json
from selection.questions.sanitize import QuestionTexts
from selection.runs.roster import quotas
from tests.patterns import Found, find_patterns
from tests.slow_texts import CLASSES, Text, texts_for

SMALL, LARGE = 4_000, 128_000
SAMPLE = 20  # texts of a pattern; all with --full
MOST_CPU = 20.0  # seconds of a pattern's texts: one that takes 2**n ends here
MOST_GROWTH = 3.0  # if the text is twice as long
FAST = 0.1  # seconds of CPU for 16,000 characters: growth is not looked at
SOME = 3  # parts of a reader's texts; all with --full
LAYOUTS = [layout for layouts in column_patterns.LAYOUTS.values() for layout in layouts]
COLUMNS = {
    *(text for text in vars(column_words).values() if isinstance(text, str) and "|" in text),
    *(text for layout in LAYOUTS for patterns in layout.fields.values() for text in patterns),
    *(text for layout in LAYOUTS for text in (layout.only, layout.unless) if text),
}
# Variables of the functions that make a pattern of them.
VARIABLES: dict[str, list[dict[str, object]]] = {
    "selection.connectors.platforms.label_studio.interface._tag_of": [{"name": "label"}],
    "selection.imports.platforms.find_column": [{"pattern": text} for text in COLUMNS],
    "selection.imports.platforms._find_all": [{"pattern": text} for text in COLUMNS],
    "selection.imports.platforms._build_plan": [{"layout": layout} for layout in LAYOUTS],
    "selection.imports.readers.csv_dialect._is_spaced": [{"between": ";"}],
    "selection.imports.surveys._worker_column": [{"pattern": text} for text in surveys._WORKER],
    "crowdselect.mail.server._plain": [{"local": "anna"}],
    "selection.model_workers.adjustments._is_named": [{"name": "top_p"}],
    "selection.model_workers.price_list._is_host": [
        {"pattern": provider.api_pattern} for provider in providers
    ],
    "selection.model_workers.replies.choices.__init__": [
        {"texts": "|".join(map(choices._pattern, texts))}
        for texts in (["yes", "no"], ["1", "2"], ["light red", "中"])
    ],
    "selection.privacy.identity.mention_pattern": [{"spellings": ["anna", "Anna B."]}],
    "selection.viewer_locale.format_currency": [{"symbol": "CHF"}],
}
# A requester's own pattern: the engine stops it after a time.
STOPPED = {
    "selection.model_workers.parsing.validate_pattern",
    "selection.model_workers.parsing.read_pattern",
}


@cache
def collect_patterns() -> tuple[list[Found], list[str]]:
    return find_patterns(VARIABLES)


def test_every_pattern_is_found() -> None:
    found, unknown = collect_patterns()
    assert len(found) > 200
    assert set(unknown) == STOPPED, "give values of its variables in VARIABLES"


def test_a_quadratic_and_an_exponential_pattern_are_noticed() -> None:
    for source in (r"(\d+)[ \t]*/", r"a[ \t]*x?[ \t]*!", "(?:<b>)+x", "(a|aa)+$", r"<b\b[^>]*>"):
        pattern = re.compile(source)
        with pytest.raises(AssertionError):
            check_pattern(Found("here", pattern, frozenset(["search"])), texts_for(pattern), 0.5)


def test_every_pattern_takes_linear_time(request: pytest.FixtureRequest) -> None:
    chance = random.Random(7)
    for found in collect_patterns()[0]:
        if isinstance(found.pattern, re.Pattern) and isinstance(found.pattern.pattern, str):
            texts = texts_for(found.pattern)
            if not request.config.getoption("--full"):
                texts = chance.sample(texts, min(len(texts), SAMPLE))
            check_pattern(found, texts)


def check_pattern(found: Found, texts: list[Text], seconds: float = MOST_CPU) -> None:
    use = partial(_use_pattern, found)
    for text in texts:
        with cpu_limit(seconds, f"{found.place}: {found.pattern.pattern!r} with {text}"):
            if _is_suspicious(use, text):
                growth = measure_growth(use, text)
                assert growth <= MOST_GROWTH, f"{found.place}: {text} ({growth:.1f} ×)"


def _use_pattern(found: Found, text: str) -> None:
    for method in found.methods or {"search"}:
        if method in ("search", "match", "fullmatch"):
            getattr(found.pattern, method)(text)
        else:
            for _ in found.pattern.finditer(text):
                pass


def _is_suspicious(use: Callable[[str], object], text: Text) -> bool:
    """Compare short texts by the fine clock; other processes disturb it, so it only suspects."""
    if measure(use, text.write(SMALL), time.perf_counter) < 5e-4:
        return False
    small, large = (
        min(measure(use, text.write(size), time.perf_counter) for _ in range(3))
        for size in (SMALL // 4, SMALL)
    )
    return large > 8 * small


def measure(use: Callable[[str], object], text: str, clock: Callable[[], float]) -> float:
    start = clock()
    use(text)
    return clock() - start


def measure_growth(use: Callable[[str], object], text: Text) -> float:
    """Measure how much longer a text of twice the length takes, once that can be measured."""
    size, before = SMALL, 0.0
    while True:
        took = min(measure(use, text.write(size), time.process_time) for _ in range(3))
        if took > 0.15 or size >= LARGE:
            return took / before if before > 0.02 else 1.0
        size, before = 2 * size, took


@contextmanager
def cpu_limit(seconds: float, what: str) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"more than {seconds} s of CPU: {what}")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


# -- readers


def refuse_nothing(read: Callable[[str], object], text: str) -> None:
    with suppress(Refused, ValueError):
        read(text)


def grade(text: str, **grading: object) -> None:
    for accepted in ("1", "yes", text[: len(text) // 2]):
        rules.is_match([accepted], text, grading)


def read_file(text: str) -> None:
    for head in ("", "worker,question,answer\n"):
        refuse_nothing(lambda raw: [*table.read_table(raw, "f.csv").rows], head + text)


def read_cell(text: str) -> None:
    for cell in (text, f"[{text}]", f"equals:{text}"):
        refuse_nothing(gold_cells.read_accepted, cell)
    gold_cells.fit_response(text, ["red", "blue"], {"multiple": True})
    gold_cells.is_missing(text)
    recognition.recognise_comparison([text], recognition.find_notation([text]))
    surveys.plan_survey(["worker", text], surveys.question_names([("q1", "Which?", ["a", "b"])]))


READERS: dict[str, Callable[[str], object]] = {
    **{
        f"a reply, {rule}, {' '.join(options) or 'text'} {' '.join(grading)}": partial(
            parsing.parse_reply,
            parsing=rule,
            pattern=r"(\w+)\s*$",
            choices=options,
            grading=grading,
        )
        for rule in Endpoint.Parsing.values
        if rule != Endpoint.Parsing.REGEX  # the engine stops it
        for options, grading in (
            (["red", "light red", "blue"], {}),
            (["1", "2", "3", "4", "5"], {}),
            (["yes", "no"], {"multiple": True}),
            ([], {"number": True}),
            ([], {}),
        )
    },
    "a refusal": parsing.is_refusal,
    "a response": grade,
    "a number": partial(grade, number=True, tolerance=0.1),
    "a response without accents": partial(grade, no_accents=True),
    "an order": partial(grade, order=True),
    "a number alone": numbers.parse_number,
    "options of grading": partial(refuse_nothing, rules.parse_grading),
    "a key": keys.plain_key,
    "a long key": keys.shorten_key,
    "a text": clean_text,
    "JSON": partial(refuse_nothing, parse_json),
    "a question in Markdown": QuestionTexts(True, {}).html,
    "a question": QuestionTexts(False, {}).html,
    "quotas": partial(refuse_nothing, quotas.parse_quotas),
    "a cell": read_cell,
    "a file": read_file,
    "a column": platforms.normalise_column,
}
PARTS = [
    *CLASSES,
    *"{[\"(<*|&\\,'`_#=!/$",
    *("<think>", '{"a":', "answer: ", "\\boxed{", "1=", "the answer is ", "A, ", "![", "](", "[]("),
    *(
        "9,",
        "e\u0301",
        "\u0301\u0327",
        "\ufdfa",
        "1 ",
        "\\frac{",
        "<answer>",
        "[answer]",
        "https://",
    ),
]


@pytest.mark.parametrize("name", READERS)
def test_a_text_is_read_in_linear_time(name: str, request: pytest.FixtureRequest) -> None:
    read, parts = READERS[name], PARTS
    if not request.config.getoption("--full"):
        parts = [*random.Random(name).sample(PARTS, SOME), "9", "\u0301\u0327"]
    for part in parts:
        for end in ("", "!"):
            text = Text("", part, end)
            with cpu_limit(MOST_CPU, f"{name}: {text}"):
                if measure(read, text.write(4 * SMALL), time.process_time) > FAST:
                    growth = measure_growth(read, text)
                    assert growth <= MOST_GROWTH, f"{name}: {text} ({growth:.1f} ×)"
