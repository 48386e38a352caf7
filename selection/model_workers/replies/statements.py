r"""Explicit statements of an answer in a reply: “Answer: B”, \\boxed{B}, {"answer": "B"}."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from . import words
from .frames import find_boxes, find_objects

Value = TypeVar("Value")
MOST = 200  # statements of a reply: one with more of them states nothing
LONGEST = 400  # characters of a statement that are read
FIELDS = words.FIELDS.split("|")
_BESIDES = re.compile("reason|explan|think|thought|confiden|justif|analysis|rationale|prob|begründ")
_TAGGED = re.compile(
    r"<(final_?answer|answer|choice|label|option|result|response|output)>([^<\[]{1,500}+)(?:</\1>|\Z)"
    r"|\[answer\]([^<\[]{1,500}+)\[/answer\]",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\[\[([^\[\]\n]{1,200})\]\]")
_HASHES = re.compile(r"(?m)^####[ \t]+(?=\S)")
_CLOSE = r"[*_\"'`)\]]{0,4}"
_LINK = (
    rf"{_CLOSE}[ \t]*(?:(?:{words.join_words(words.COPULAS_JOINED)}|"
    rf"(?:{words.match_whole(words.COPULAS)}|'s(?!\w)))[ \t]*[:,]?|[:：=→—–]|-{{1,2}}>|-(?=[ \t]))"
)
_DIRECT = r"[ \t]+(?=[(\[*_\"'`]*[A-Z][)\]*_\"'`]*[ \t]*(?:[.,]|$|\n))"
_FILL = r"(?:[ \t]+(?!\w[ \t])[^\s.:;!?=,]{1,20}){0,6}?"
_JOINED_FILL = r"[^\s.:;!?=,A-Za-z]{0,6}?"
_STATED = re.compile(
    rf"(?<!\w)(?:(?:{words.join_words(words.QUALITIES)}[ \t]+){{0,2}})[*_\"'`]{{0,3}}+"
    rf"(?:(?:{words.join_words(words.ANSWERS)})(?:\(s\))?(?!\w)(?:{_FILL}{_LINK}|{_DIRECT})"
    rf"|(?P<choice>{words.join_words(words.CHOICES)})(?!\w)(?:{_FILL}{_LINK})"
    rf"|(?:{words.join_words(words.LABELS)}){_CLOSE}:{_CLOSE}(?=[ \t]))"
    rf"|(?:{words.join_words(words.ANSWERS_JOINED, words.CHOICES_JOINED)})"
    rf"(?:{_JOINED_FILL}(?:{_FILL}{_LINK})|[ \t]*(?=[A-Z(\[]))"
    rf"|(?:{words.match_whole(words.CHOOSING)}|{words.join_words(words.CHOOSING_JOINED)})[ \t]*:?",
    re.IGNORECASE,
)
_PRAISED = re.compile(
    rf"(?:[*_\"'`)\]]{{1,4}}[ \t]*+|(?<![ \t])[ \t]*+)"
    rf"(?:{words.match_whole('is|would be|seems|must be|ist|est|es|é|è|—|-')}[ \t]+"
    rf"(?:{words.match_whole('clearly|definitely|therefore|most likely|probably|thus')}[ \t]+)?"
    rf"{words.match_whole(words.PRAISE)}|{words.join_words(words.PRAISE_JOINED)})",
    re.IGNORECASE,
)
_SO = re.compile(r"^\s*(?:so|therefore|thus|hence|and|daher|also|因此|所以)?[,\s]*", re.IGNORECASE)
_POINTED = re.compile(rf"{words.match_whole(words.POINTING)}[ \t]*", re.IGNORECASE)
_FINAL = re.compile(
    rf"{words.match_whole(words.FINAL)}|{words.join_words(words.FINAL_JOINED)}", re.IGNORECASE
)
_DOUBT = re.compile(
    rf"{words.match_whole(words.DOUBTS)}|n't|{words.join_words(words.DOUBTS_JOINED)}", re.IGNORECASE
)
_DENIED = re.compile(rf"{_DOUBT.pattern}|{words.match_whole('no')}", re.IGNORECASE)
_CORRECTED = re.compile(
    rf"(?<!\w){words.join_words(words.CORRECTIONS)}(?!\w)|{words.join_words(words.CORRECTIONS_JOINED)}",
    re.IGNORECASE,
)
_QUALITY = re.compile(words.match_whole(words.QUALITIES), re.IGNORECASE)
_JOINED = re.compile(r"[}\]>][^\w}\]>]*+(?:(?:or|and|oder|und|ou|o|y)\W*+)?$", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_CONDITION = re.compile(words.match_whole(words.CONDITIONAL), re.IGNORECASE)
_CLAUSE, _SENTENCE = re.compile(r"[.,;:!?\n，]"), re.compile(r"[.;!?\n]")
_QUESTION = re.compile(r"[^.!?\n]*\?")


@dataclass(frozen=True)
class Statement:
    """A part of a reply that states an answer.

    final  it is marked as the final one; ``exact`` if all of the text is the answer
    """

    place: int
    text: str
    final: bool = False
    exact: bool = False


def find_marked(text: str, known: bool = False) -> list[Statement]:
    """Find the answers in tags, boxes, double brackets, JSON fields, and after ####.

    known  the field must be one of FIELDS, also if there is no other
    """
    marked = [(match.start(), (match[2] or match[3]).strip()) for match in _TAGGED.finditer(text)]
    marked += find_boxes(text)
    marked += ((match.start(), match[1]) for match in _BRACKETS.finditer(text))
    for match in _HASHES.finditer(text):
        marked.append((match.start(), text[match.end() :][:LONGEST].split("\n")[0]))
    for place, _, value in find_objects(text):
        if (answer := read_field(value, known=known)) is not None:
            marked.append((place, answer))
    return [Statement(place, inside, True, True) for place, inside in marked]


def find_spoken(text: str) -> Iterator[Statement]:
    """Yield the answers that the reply announces: “the answer is …”, “I choose …”."""
    for match in _STATED.finditer(text):
        choice = match["choice"] and not re.search(r"[:=→][ \t*_]*$", match[0])
        if choice and not _QUALITY.search(match[0]):
            continue
        clause = _read_clause(text, match.start()) + match[0]
        if _is_doubted(text, match.start()) or _DENIED.search(match[0]):
            continue
        rest = text[match.end() : match.end() + LONGEST]
        if not _QUESTION.match(rest.lstrip()):
            yield Statement(match.start(), rest, bool(_FINAL.search(clause)))


def find_praised(text: str) -> Iterator[Statement]:
    """Yield the beginnings of the sentences that end in “is correct”."""
    for match in _PRAISED.finditer(text):
        parts = re.split(r"[.;!?\n](?=\s)|\n", text[max(0, match.start() - 120) : match.start()])
        before = _SO.sub("", parts[-1])
        if not _is_doubted(before, len(before)) and not _QUESTION.match(text[match.end() :][:80]):
            yield Statement(match.start(), before, exact=True)


def find_pointed(text: str) -> Iterator[Statement]:
    """Yield the ends of sentences like “it is …”, and bold texts."""
    for match in _POINTED.finditer(text):
        clause = _SENTENCE.split(text[match.end() : match.end() + LONGEST])[0]
        if not _is_doubted(text, match.start()):
            yield Statement(match.start(), clause)
    for match in _BOLD.finditer(text):
        yield Statement(match.start(), match[1], exact=True)


def _read_clause(text: str, place: int) -> str:
    return _CLAUSE.split(text[max(0, place - 120) : place])[-1]


def _is_doubted(text: str, place: int) -> bool:
    """Tell if the words before the place deny, doubt, or set a condition."""
    sentence = _SENTENCE.split(text[max(0, place - 200) : place])[-1]
    return bool(_DOUBT.search(_read_clause(text, place)) or _CONDITION.search(sentence))


def read_field(value: Any, depth: int = 0, known: bool = False) -> str | None:
    """Read the answer of a JSON value, by the name of its field; lists are joined by |."""
    if isinstance(value, dict) and depth < 3:
        fields = {re.sub(r"[\W_]", "", str(name)).casefold(): name for name in value}
        name = next((fields[field] for field in FIELDS if field in fields), None)
        if name is None and not known and len(value) == 1:
            name = next((own for bare, own in fields.items() if not _BESIDES.search(bare)), None)
        return None if name is None else read_field(value[name], depth + 1)
    if isinstance(value, list):
        parts = [read_field(part, 3) for part in value]
        return None if not parts or None in parts else "|".join(map(str, parts))
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float) else None


def resolve(
    text: str, statements: Sequence[Statement], read: Callable[[Statement], Value | None]
) -> tuple[bool, Value | None]:
    """Return True and the stated answer, or False; None if the statements differ.

    The last final statement counts; without one, all must agree, or the last one correct the rest.
    """
    if len(statements) > MOST:
        return True, None
    ordered = sorted(statements, key=lambda one: one.place)
    values = [(one, value) for one in ordered if (value := read(one)) is not None]
    final = [pair for pair in values if pair[0].final]
    chosen = final or values
    if not chosen:
        return False, None
    last = chosen[-1][1]
    between = text[chosen[-2][0].place : chosen[-1][0].place] if len(chosen) > 1 else ""
    if final and chosen[-2:][0][1] != last and _JOINED.search(between):
        return True, None
    if final or all(value == last for _, value in chosen):
        return True, last
    return True, last if _CORRECTED.search(between[5:]) else None
