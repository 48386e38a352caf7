"""How the answers of a file name the choices: by text, label, letter or number.

One reading holds for the column. If two fit all rows and differ, a person is asked.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from selection.errors import Refused
from selection.grading import rules
from selection.grading.quantities import parse_dates
from selection.grading.rules import Grading

LABEL = "label"
# By reading, its name on pages.
READINGS = {
    "text": "the text of the choice",
    LABEL: "the label of the choice",
    "letter": "its letter: A is the first choice",
    "numbers from 0": "its number: 0 is the first choice",
    "numbers from 1": "its number: 1 is the first choice",
    "1 is yes": "1 for yes, 0 for no",
}
# Of dates such as 3/4/2025.
DAY, MONTH = "day first", "month first"
ORDERS = {DAY: "the day before the month", MONTH: "the month before the day"}
_POLAR = {
    "1": "yes|y|true|t|correct|ja|wahr|richtig|oui|vrai|sí|si|verdadero|evet|doğru|sim|sì|vero|да",
    "0": "no|n|false|f|incorrect|nein|falsch|non|faux|falso|hayır|yanlış|não|nao|нет",
}
BITS = {"1": "1", "0": "0"} | {
    word: bit for bit, words in _POLAR.items() for word in words.split("|")
}
_BRACKETS = re.compile(r"[\[(]?([A-Za-z]|\d{1,3})[])).:]?")
_LETTERS = re.compile(r"[A-Z]{2,26}")

Options = dict[str, list[str]]  # an answer and its choice by reading


@dataclass(frozen=True)
class KeyRow:
    """The accepted answers of a question, with its choices.

    slots   the choices, with empty texts in the places of absent ones
    labels  of the slots, as the file has them
    stated  True if the file says that these are the labels
    """

    answers: Sequence[str]
    slots: Sequence[str]
    labels: Sequence[str]
    stated: bool
    grading: Grading

    def read(self, reading: str) -> tuple[str, ...] | None:
        """Read the answers as choices; None if one of them names none."""
        answers = self.answers if reading in ("text", "1 is yes") else self._parts()
        found = [_READERS[reading](self, answer) for answer in answers]
        return tuple(map(str, found)) if all(found) else None

    def _parts(self) -> Sequence[str]:
        """Split “ABD” or “1, 3”, which name several choices of a question with several."""
        several = self.grading.get("multiple") or self.grading.get("order")
        if not several or len(self.answers) != 1:
            return self.answers
        (answer,) = self.answers
        return [*answer] if _LETTERS.fullmatch(answer) else re.split(r"[\s,;/&+]+", answer)

    def place(self, number: int) -> str:
        return self.slots[number] if 0 <= number < len(self.slots) else ""

    def by_text(self, answer: str) -> str:
        filled = [slot for slot in self.slots if slot]
        if answer in filled:
            return answer
        alike = (c for c in filled if rules.is_match([c], answer, self.grading, filled))
        return next(alike, "")

    def by_label(self, answer: str) -> str:
        labels = [_bare(label) for label in self.labels]
        bare = _bare(answer)
        known = len(labels) == len(self.slots) and labels.count(bare) == 1
        return self.slots[labels.index(bare)] if known else ""

    def by_letter(self, answer: str) -> str:
        bare = _bare(answer).upper()
        return self.place(ascii_uppercase.index(bare)) if _is_letter(bare) else ""

    def by_number(self, answer: str, base: int) -> str:
        return self.place(int(answer) - base) if answer.isdecimal() and len(answer) < 4 else ""

    def by_yes(self, answer: str) -> str:
        polar = {BITS.get(slot.casefold(), slot): slot for slot in self.slots}
        bit = BITS.get(answer.casefold(), answer)
        return polar.get(bit, "") if {*polar} == {"0", "1"} else ""


_READERS: dict[str, Callable[[KeyRow, str], str]] = {
    "text": KeyRow.by_text,
    LABEL: KeyRow.by_label,
    "letter": KeyRow.by_letter,
    "numbers from 0": lambda row, answer: row.by_number(answer, 0),
    "numbers from 1": lambda row, answer: row.by_number(answer, 1),
    "1 is yes": KeyRow.by_yes,
}


def _bare(text: str) -> str:
    match = _BRACKETS.fullmatch(text)
    return (match[1] if match else text).casefold()


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text in ascii_uppercase


def find_readings(rows: Sequence[KeyRow]) -> Options:
    """Find the readings that fit the most rows, of those that agree only the first.

    Several are left only if they differ.
    """
    rows = [row for row in rows if row.slots and row.answers]
    answers = {reading: [row.read(reading) for row in rows] for reading in READINGS}
    counts = {reading: len(rows) - read.count(None) for reading, read in answers.items()}
    most = max(counts.values(), default=0)
    if not most:
        return {}
    fitting = {name: read for name, read in answers.items() if counts[name] == most}
    if LABEL in fitting and any(row.stated for row in rows):
        return {LABEL: []}
    if "text" in fitting and len({tuple(row.slots) for row in rows}) == 1:
        return {"text": []}
    distinct: dict[str, list[tuple[str, ...] | None]] = {}
    for name, read in fitting.items():
        if read not in distinct.values():
            distinct[name] = read
    if len(distinct) == 1:
        return {name: [] for name in distinct}
    place = next(i for i in range(len(rows)) if len({read[i] for read in distinct.values()}) > 1)
    return {
        name: [" | ".join(rows[place].answers), " | ".join(read[place] or ("nothing",))]
        for name, read in distinct.items()
    }


def read_choices(row: KeyRow, readings: Sequence[str]) -> list[str]:
    """Read the answers of a row by the column's reading, else by the only one that fits them.

    Raises Refused if the readings differ.
    """
    if not row.slots:
        return list(row.answers)
    read = dict.fromkeys(filter(None, map(row.read, readings)))
    others = dict.fromkeys(filter(None, map(row.read, READINGS))) if not read else {}
    if len(read | others) > 1:
        pairs = {r: row.read(r) for r in (readings if read else READINGS)}
        raise Refused(describe_readings({r: [*row.answers[:1], *c] for r, c in pairs.items() if c}))
    return list(next(iter(read | others), row.answers))


def find_orders(text: str) -> Options:
    """Show how a date with two readings may be read."""
    moments = parse_dates(text)
    return {name: [text, f"{m.day} {m:%B %Y}"] for name, m in zip(ORDERS, moments, strict=True)}


def describe_example(name: str, example: Sequence[str]) -> str:
    return f"{(READINGS | ORDERS)[name]}: “{example[0]}” is “{example[1]}”"


def find_name(reading: str) -> str:
    if reading and reading not in READINGS | ORDERS:
        names = ", ".join(READINGS | ORDERS)
        raise Refused(f"“{reading}” is no reading of answers: there are {names}.")
    return reading


def describe_readings(readings: Options) -> str:
    """Write the possible readings with an example of each, and how to choose one."""
    answer = next(iter(readings.values()))[0]
    either = ", or ".join(f"“{example[1]}” ({name})" for name, example in readings.items())
    return (
        f"The answer “{answer}” may be {either}: choose the “reading”, or write the text of the "
        "choice."
    )
