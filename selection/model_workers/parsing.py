"""Reading of a model's reply: the answer to a gold question, or None if there is no telling.

A wrong reading is worse than none: different statements give nothing, except if the last one is
marked as final. Documented for requesters in docs/model-workers.md.
"""

import logging
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import regex

from selection.errors import Refused
from selection.grading.quantities import parse_amount
from selection.grading.rules import SEPARATOR, is_possible_answer, kind_of
from selection.limits import LONGEST_RESPONSE
from selection.models import Endpoint, Question

from .replies import figures, frames, statements, texts, words
from .replies.choices import ChoiceReader
from .replies.statements import Statement

logger = logging.getLogger(__name__)
Parsing = Endpoint.Parsing
Grading = dict[str, Any]
PATTERN_SECONDS = 0.5  # most time for a requester's own regular expression
LONGEST_READ = 100_000  # characters of a reply; a longer one is not read
# Of a long text without its thoughts, the beginning and the end are read.
HEAD, TAIL = 4_000, 8_000
_REFUSED = re.compile(words.match_whole(words.REFUSALS), re.IGNORECASE)
_LIST_ITEM = re.compile(
    r"(?m)^[ \t]*(?:[-*•][ \t]+)?[*_(]*([A-Z])[*_]*(?:[).:]|[ \t]+[-–—→])[*_]*[ \t]"
)
_OUT_OF = re.compile(
    r"(?<!\d)(\d++)[ \t]*(?:/|out of|von|sur|de|из|من)[ \t]*(?:5|7|10|100)(?![\d/])"
)
_OUT_OF_WORDS = re.compile(r"(?<=\d)[ \t]+out of[ \t]+(?=(?:5|10|100)(?!\d))")
_TO = words.join_words(words.RANGES, "a|-|–|—|~|/|…|...")
# A scale that the reply repeats, and a range of ratings.
_STATED_SCALE = re.compile(
    rf"(?:\(|(?:(?:on|in|from|auf|sur|en|di|su|по)[ \t]+)?(?:(?:a|the|einer|der|une|una|l')[ \t]*)?"
    rf"{words.join_words(words.SCALE_NOUNS)}(?:[ \t]+(?:of|from|von|de|da|van|от))?[ \t]+)"
    rf"\d{{1,3}}[ \t]*{_TO}[ \t]*\d{{1,3}}(?!\d)\)?,?",
    re.IGNORECASE,
)
_RATINGS = re.compile(rf"(?<![\w.,])(\d{{1,3}})[ \t]*{_TO}[ \t]*(?=\d{{1,3}}(?![\w.,]\d))", re.I)
_CONFIDENCE = re.compile(
    r"(?im)^[ \t*(]*(?:confidence|certainty|probability|konfidenz|sicherheit)\b.*$"
)
_CONCLUSION = re.compile(
    words.match_whole(
        words.FINAL, "total|altogether|in all|left|remaining|insgesamt|result|total|means"
    ),
    re.I,
)
# “A: …” may announce an answer, and “A - no” judges a choice.
_NO_LEAD = re.compile(
    r"\W*A[*_]*:|\s*\{|\W*[A-Z]\W+(?:no|yes|wrong|incorrect|false|true|nein|falsch|\d)(?!\w)", re.I
)
_STEP = re.compile(r"(?m)^[ \t]*\d{1,3}[.)][ \t]+(?=[^\s])")


def parse_reply(
    reply: str, parsing: str, pattern: str, choices: Sequence[str], grading: Grading
) -> str | None:
    """Find the answer that the reply gives; None if it gives none, or several.

    parsing  a rule of ``Endpoint.Parsing``
    pattern  regular expression of the rule REGEX; its first group, or all of it, is the answer
    """
    text = frames.strip_frame(reply) if len(reply) <= LONGEST_READ else ""
    if not text:
        return None
    if len(text) > HEAD + TAIL and parsing != Parsing.REGEX:
        text = f"{text[:HEAD]}\n\n…\n\n{text[-TAIL:]}"
    answer = _RULES[Parsing(parsing)](_Reader(choices, grading), text, pattern)
    if answer is None or not answer.strip() or len(answer) > LONGEST_RESPONSE:
        return None
    answer = answer.replace("\0", "").strip()
    return answer if is_possible_answer(choices, answer, grading) else None


def read_reply(parsing: str, pattern: str, question: Question, reply: str) -> str | None:
    """Read the answer of ``parse_reply``; None also for a reply that no rule has foreseen."""
    try:
        return parse_reply(reply, parsing, pattern, question.choices, question.grading)
    except Exception:  # it harms no other reply
        logger.exception("A reply to “%s” cannot be read.", question)
        return None


def is_refusal(reply: str) -> bool:
    text = frames.fold_signs(frames.strip_frame(reply[:LONGEST_READ]))
    return bool(_REFUSED.search(text[:200]))


def validate_pattern(parsing: str, pattern: str) -> None:
    if parsing != Parsing.REGEX:
        return
    if not pattern:
        raise Refused("The rule “regex” needs a pattern, for example: Answer: (\\w+)")
    try:
        regex.compile(pattern)
    except regex.error as error:
        raise Refused(f"The pattern is no regular expression: {error}.") from error


class _Reader:
    """Reads answers to a question with these choices."""

    def __init__(self, choices: Sequence[str], grading: Grading) -> None:
        self.choices = list(choices)
        self.kind = kind_of(choices, grading)
        self.amount = bool(grading.get("unit"))
        self.rated = bool(choices) and all(choice.strip().isdigit() for choice in choices)
        self.names = ChoiceReader(choices, self.kind in ("multiple", "order"))

    def read_any(self, text: str, pattern: str = "") -> str | None:
        if self.kind in ("text", "date", "time"):
            return self._read_text(text)
        if self.amount and parse_amount(frames.strip_latex(text).strip(" .*`")):
            return frames.strip_latex(text).strip(" .*`")
        text = frames.strip_fence(frames.fold_signs(text))
        if self.rated:
            text = _RATINGS.sub(r"\1 or ", _OUT_OF.sub(r"\1", _STATED_SCALE.sub(" ", text)))
        return self._read_number(text) if self.kind == "number" else self._read_choice(text)

    def read_letter(self, text: str, pattern: str = "") -> str | None:
        """Read the choices of the letters that the text states, or has; None if not clear."""
        choice = self._read_stated(text := frames.fold_signs(text))
        if choice is not None:
            return self._join_choices(choice)
        letters = re.findall(r"(?<![\w'’])[A-Z](?!['’\w])", text)
        return self._join_choices(self.names.read_whole(", ".join(letters)))

    def read_word(self, text: str, pattern: str = "") -> str | None:
        """Find the only choice that the text mentions as a whole word and does not deny."""
        return self._join_choices(self.names.read_mentions(frames.fold_signs(text)))

    def read_json(self, text: str, pattern: str = "") -> str | None:
        values = [
            statements.read_field(value, known=True) for _, _, value in frames.find_objects(text)
        ]
        return next((self._read_part(one) for one in reversed(values) if one is not None), None)

    def read_last_line(self, text: str, pattern: str = "") -> str | None:
        return self.read_any(text.splitlines()[-1].strip())

    def read_pattern(self, text: str, pattern: str) -> str | None:
        try:
            match = regex.search(pattern, text, timeout=PATTERN_SECONDS)
        except TimeoutError:
            return None
        return self._read_part(match[1] if match.groups() else match[0]) if match else None

    def _read_part(self, text: str | None) -> str | None:
        """Read the answer of a part of the reply that holds nothing else."""
        if not text or self.kind in ("text", "date", "time"):
            return text
        return self.read_any(text)

    # -- choices

    def _read_choice(self, text: str) -> str | None:
        choice = self._read_stated(text)
        if choice is None and not _REFUSED.search(text[:200]):
            choice = self._read_shown(text)
        return self._join_choices(choice or ())

    def _read_stated(self, text: str) -> tuple[int, ...] | None:
        """Read the choices that the reply states: empty if it contradicts itself, None if none.

        The first and the last line are statements if they hold nothing else.
        """
        whole = self.names.read_whole(frames.strip_latex(text)) or self._read_list(text)
        if whole:
            return whole
        stated = [*statements.find_marked(text), *statements.find_spoken(text)]
        stated += self._find_outer_lines(text)
        praised = [*statements.find_praised(text)]
        read = partial(self._read_statement, praised=praised)
        has_statement, value = statements.resolve(text, [*stated, *praised], read)
        return (value or ()) if has_statement else None

    def _read_list(self, text: str) -> tuple[int, ...]:
        """Read several choices, each on a line of its own; none if another line is there."""
        lines = [
            line for line in text.split("\n") if line.strip() and line.rstrip("* ")[-1:] != ":"
        ]
        if self.kind == "single" or not 1 < len(lines) <= len(self.choices):
            return ()
        items = [self.names.read_whole(line) for line in lines]
        return tuple(item[0] for item in items) if all(len(i) == 1 for i in items) else ()

    def _read_statement(
        self, one: Statement, praised: Sequence[Statement] = ()
    ) -> tuple[int, ...] | None:
        text = frames.strip_latex(one.text)
        whole = self.names.read_whole(text) if one.exact else ()
        if whole or one in praised:
            return whole or None
        return self.names.read_stated(text)

    def _find_outer_lines(self, text: str) -> list[Statement]:
        lines = [line for line in text.split("\n") if line.strip()]
        letters = _LIST_ITEM.findall(text)
        listed = len(set(letters)) > 1 and letters[0] < letters[1]
        ends = []
        if not listed and self._is_lead(lines[0]):
            ends.append(Statement(0, lines[0]))
        if self.names.read_whole(lines[-1]) and not (listed and _LIST_ITEM.match(lines[-1])):
            ends.append(Statement(text.rfind(lines[-1]), lines[-1], exact=True))
        return ends

    def _is_lead(self, line: str) -> bool:
        """Tell if the line begins with choices and goes on with something else."""
        part = self.names.take(line)
        if not part.chosen or (part.rest.strip() and _NO_LEAD.match(line)):
            return False
        if re.match(rf"[\s*_\"')\]]*+,?[ \t]*+{_BECAUSE}", part.rest):
            return True
        ends = re.match(r"\s*$|[\s*_\"')\]]*(?:[.,;:!(]|[-–—](?!\w))", part.rest)
        others = self.names.read_mentions(part.rest)
        return bool(ends) and (not others or part.chosen[0] in others or len(set(others)) > 1)

    def _read_shown(self, text: str) -> tuple[int, ...]:
        """Find the choices that the reply points at, or else mentions alone."""
        pointed = list(statements.find_pointed(text))
        has_statement, value = statements.resolve(
            text, pointed, lambda one: self.names.read_whole(one.text) or None
        )
        if has_statement:
            return value or ()
        return self.names.read_mentions(text)

    def _join_choices(self, found: Sequence[int]) -> str | None:
        if not found or (self.kind == "single" and len(found) > 1):
            return None
        return SEPARATOR.join(self.choices[index] for index in found)

    # -- numbers

    def _read_number(self, text: str) -> str | None:
        rated = figures.is_rated(text)
        bare = re.sub(r"^\s*1[.)]\s+(?=[-$€]?\d)", "", frames.strip_latex(text))
        bare = _CONFIDENCE.sub("", _OUT_OF_WORDS.sub("/", bare)) or bare
        alone = figures.is_figure_alone(bare) and "=" not in bare
        if alone and (number := figures.read_figure(bare, rated)):
            return number
        stated = [*statements.find_marked(text), *statements.find_spoken(bare)]
        lines = [_STEP.sub("", line) for line in bare.split("\n") if line.strip()]
        if len(lines) > 1:
            ends = ((0, lines[0]), (len(text), lines[-1]))
            stated += [Statement(*end) for end in ends if figures.is_figure_alone(end[1])]
        read = lambda one: figures.read_figure(frames.strip_latex(one.text), rated)  # noqa: E731
        has_statement, value = statements.resolve(text, stated, read)
        return value if has_statement else self._read_shown_number(lines)

    def _read_shown_number(self, lines: Sequence[str]) -> str | None:
        marked = re.findall(r"\*\*([^*\n]{1,100})\*\*", "\n".join(lines))
        bold = {figures.read_only(figure) for figure in marked} - {None}
        if len(bold) == 1:
            return bold.pop()
        sentence = re.split(r"(?<=[.!?])\s+(?=\D)", lines[-1].strip())[-1] if lines else ""
        *parts, last = re.split(r"[,.][ \t]*(?:no|wait|sorry|correction)[ ,:]+", sentence)
        if parts:
            return figures.read_only(last)
        others = " ".join(lines).replace(sentence, "", 1)
        figure = figures.read_after_equals(sentence)
        if not figure and (_CONCLUSION.search(sentence) or not re.search(r"\d", others)):
            return figures.read_only(sentence)
        return figure

    # -- free text

    def _read_text(self, text: str) -> str | None:
        if _REFUSED.search(frames.fold_signs(text[:200])):
            return None
        inside = frames.strip_fence(text)
        marked = [] if inside.startswith("[[") else statements.find_marked(inside, known=True)
        spoken = statements.find_spoken(inside)
        stated = [*marked, *(one for one in spoken if _ANNOUNCED.search(inside, one.place))]
        has_statement, value = statements.resolve(inside, stated, self._read_stated_text)
        return value if has_statement else texts.read_text(text)

    def _read_stated_text(self, one: Statement) -> str | None:
        text = frames.strip_latex(one.text) if "\\" in one.text else one.text
        return (texts.unwrap(text) if one.exact else texts.take_sentence(text)) or None


_ANNOUNCED = re.compile(words.join_words(words.ANSWERS, words.ANSWERS_JOINED), re.IGNORECASE)
_BECAUSE = words.match_whole("because|since|as|weil|da|car|porque|perché")

_RULES: dict[str, Callable[[_Reader, str, str], str | None]] = {
    Parsing.AUTO: _Reader.read_any,
    Parsing.LETTER: _Reader.read_letter,
    Parsing.WORD: _Reader.read_word,
    Parsing.JSON: _Reader.read_json,
    Parsing.LAST_LINE: _Reader.read_last_line,
    Parsing.REGEX: _Reader.read_pattern,
}
