"""Reading of a model's reply: the answer to a gold question, or None if there is no telling.

Documented for requesters in docs/model-workers.md.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import regex

from selection.errors import Refused
from selection.grading.numbers import parse_number
from selection.grading.rules import SEPARATOR, is_possible_answer, kind_of, normalise_text
from selection.limits import LONGEST_RESPONSE
from selection.models import Endpoint

from .prompts import LETTERS

Parsing = Endpoint.Parsing
Grading = dict[str, Any]
PATTERN_SECONDS = 0.5  # most time for a requester's own regular expression

# Thoughts of reasoning models that the server leaves in the reply.
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_UNFINISHED_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*\Z", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^```\w*\n(.*?)\n?```$", re.DOTALL)
_JSON_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_LETTER = re.compile(r"(?<![\w'’])\(?\**([A-Za-z])\**(?:[).:,;]|\b)(?!['’\w])")
_ANSWER_IS = re.compile(
    r"(?:answer|antwort|réponse|respuesta)(?:\s+(?:is|ist|est|es))?\s*:?\s*(.+)", re.IGNORECASE
)
_STATED_LETTER = re.compile(r"\W*([A-Z])(?=\W*$|[).:,]|\s+(?:because|since)\b)")
_NUMBER = re.compile(r"[-+−]?\d[\d.,\u00a0\u202f' ]*(?:[eE][-+]?\d+)?")
_MARKS = "*_`\"'“”„’.:;!() \n\t"


def parse_reply(
    reply: str, parsing: str, pattern: str, choices: Sequence[str], grading: Grading
) -> str | None:
    """Return the answer that the reply gives; None if it gives none, or several.

    parsing  a rule of ``Endpoint.Parsing``
    pattern  regular expression of the rule REGEX; its first group, or all of it, is the answer
    """
    text = _strip_frame(reply)
    if not text:
        return None
    reader = _Reader(choices, grading)
    answer = _RULES[Parsing(parsing)](reader, text, pattern)
    if answer is None or not answer.strip() or len(answer) > LONGEST_RESPONSE:
        return None
    answer = answer.replace("\0", "").strip()
    return answer if is_possible_answer(choices, answer, grading) else None


def validate_pattern(parsing: str, pattern: str) -> None:
    """Raise Refused for a missing or invalid regular expression."""
    if parsing != Parsing.REGEX:
        return
    if not pattern:
        raise Refused("The rule “regex” needs a pattern, for example: Answer: (\\w+)")
    try:
        regex.compile(pattern)
    except regex.error as error:
        raise Refused(f"The pattern is no regular expression: {error}.") from error


def _strip_frame(reply: str) -> str:
    """Return the reply without thoughts and without the fence of a block of code."""
    text = _UNFINISHED_THOUGHT.sub("", _THOUGHTS.sub("", reply)).strip()
    fenced = _FENCE.match(text)
    return (fenced[1] if fenced else text).strip()


class _Reader:
    """Reads answers to a question with these choices."""

    def __init__(self, choices: Sequence[str], grading: Grading) -> None:
        self.choices = list(choices)
        self.grading = grading
        self.kind = kind_of(choices, grading)

    def read_any(self, text: str, pattern: str = "") -> str | None:
        """Return the answer by what the question takes."""
        if self.kind == "number":
            return self._last_number(text)
        if self.kind == "text":
            return text
        if text.startswith("{") and (found := self.read_json(text)) is not None:
            return found
        return self._read_choices(text) or self.read_last_line(text) or self.read_word(text)

    def read_letter(self, text: str, pattern: str = "") -> str | None:
        """Return the choices of the letters that the text has; None if they are not clear."""
        letters = dict.fromkeys(found.upper() for found in _LETTER.findall(text))
        chosen = [choice for choice in map(self._choice_of, letters) if choice is not None]
        if not chosen or (self.kind == "single" and len(chosen) > 1):
            return None
        return SEPARATOR.join(chosen)

    def read_word(self, text: str, pattern: str = "") -> str | None:
        """Return the only choice that the text mentions as a whole word."""
        plain = normalise_text(text)
        named = [
            choice
            for choice in self.choices
            if re.search(rf"(?<!\w){re.escape(normalise_text(choice))}(?!\w)", plain)
        ]
        longest = [one for one in named if not any(_is_part(one, other) for other in named)]
        if self.kind == "single" or len(longest) < 2:
            return longest[0] if len(longest) == 1 else None
        return SEPARATOR.join(longest) if self.kind == "multiple" else None

    def read_json(self, text: str, pattern: str = "") -> str | None:
        found = _JSON_OBJECT.search(text)
        try:
            document = json.loads(found[0]) if found else None
        except ValueError:
            return None
        answer = document.get("answer") if isinstance(document, dict) else None
        if isinstance(answer, list):
            answer = SEPARATOR.join(map(str, answer))
        if answer is None or isinstance(answer, dict):
            return None
        return self._read_part(str(answer))

    def read_last_line(self, text: str, pattern: str = "") -> str | None:
        line = text.splitlines()[-1].strip()
        stated = _ANSWER_IS.search(line)
        if stated is None:
            return self._read_part(line)
        letter = _STATED_LETTER.match(stated[1]) if self.kind == "single" else None
        return self._choice_of(letter[1]) if letter else self._read_part(stated[1])

    def read_pattern(self, text: str, pattern: str) -> str | None:
        try:
            found = regex.search(pattern, text, timeout=PATTERN_SECONDS)
        except TimeoutError:
            return None
        if found is None:
            return None
        return self._read_part(found[1] if found.groups() else found[0])

    def _read_part(self, text: str) -> str | None:
        """Return the answer of a part of the reply that holds nothing else."""
        if self.kind == "number":
            return self._last_number(text)
        return (self._read_choices(text) or self.read_word(text)) if self.choices else text

    def _read_choices(self, text: str) -> str | None:
        """Return the choices if the text is nothing but them, or their letters."""
        stripped = text.strip(_MARKS)
        if is_possible_answer(self.choices, stripped, self.grading):
            return stripped
        lettered = re.match(r"^\(?([A-Za-z])\)?[.):]\s*(.+)$", stripped, re.DOTALL)
        if lettered and self._choice_of(lettered[1].upper()) is not None:
            choice = self._choice_of(lettered[1].upper())
            if normalise_text(lettered[2].strip(_MARKS)) == normalise_text(choice or ""):
                return choice
        parts = [part.strip(_MARKS) for part in re.split(r"[,;|>&→\s]+", stripped)]
        letters = [part for part in parts if part and part.lower() not in ("and", "und", "et", "y")]
        if all(len(part) == 1 and self._choice_of(part.upper()) for part in letters):
            return self.read_letter(" ".join(letters))
        return None

    def _choice_of(self, letter: str) -> str | None:
        place = LETTERS.find(letter)
        return self.choices[place] if 0 <= place < len(self.choices) else None

    def _last_number(self, text: str) -> str | None:
        numbers = [found.strip(" .,'") for found in _NUMBER.findall(text)]
        numbers = [number for number in numbers if parse_number(number) is not None]
        return numbers[-1] if numbers else None


def _is_part(one: str, other: str) -> bool:
    """Return True if the choice is a part of a longer one: “new” of “as good as new”."""
    return one != other and normalise_text(one) in normalise_text(other)


_RULES: dict[str, Callable[[_Reader, str, str], str | None]] = {
    Parsing.AUTO: _Reader.read_any,
    Parsing.LETTER: _Reader.read_letter,
    Parsing.WORD: _Reader.read_word,
    Parsing.JSON: _Reader.read_json,
    Parsing.LAST_LINE: _Reader.read_last_line,
    Parsing.REGEX: _Reader.read_pattern,
}
