"""Texts on which a pattern that is not linear shows itself: made from its own parts."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, islice, product
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

# An example of each class of characters; a pattern's own signs are added.
CLASSES = ["1", "a", "A", " ", "\n", ".", "-", "中", "１"]
ENDINGS = ["", "!", "<", "a", "\n", "1"]
MOST_BRANCHES, MOST_STARTS, MOST_SIGNS = 3, 40, 14


class Text(NamedTuple):
    """A beginning, a part that is repeated, and an end."""

    start: str
    part: str
    end: str

    def write(self, size: int) -> str:
        return self.start + self.part * (size // len(self.part)) + self.end


def texts_for(pattern: "re.Pattern[str]") -> list[Text]:
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    own = [sign for sign in dict.fromkeys(_signs(tree)) if not sign.isalnum()]
    signs = [*dict.fromkeys([*CLASSES, *own[:MOST_SIGNS]])]
    starts = [*dict.fromkeys(islice(_starts(tree), MOST_STARTS))]
    texts = [Text("", *pair) for pair in product(signs, ENDINGS)]
    texts += [Text(start, sign, "a") for start in ("a", "1", ".") for sign in signs]
    texts += [Text("", one + two, "!") for one, two in product(signs, signs)]
    for start in starts:
        texts.append(Text("", start, ""))
        texts += [Text("", start + sign, "!") for sign in signs]
        texts += [Text(start, sign, end) for sign in signs for end in "!<"]
    return texts


def _signs(tree: Any) -> Iterator[str]:
    """Yield an example of every sign and class in the pattern."""
    for code, value in tree:
        if code in (codes.LITERAL, codes.NOT_LITERAL, codes.IN):
            yield _example([(code, value)])
        for part in _parts(code, value):
            yield from _signs(part)


def _parts(code: Any, value: Any) -> list[Any]:
    if code is codes.BRANCH:
        return list(value[1])
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [value[1]]
    if code is codes.SUBPATTERN:
        return [value[3]]
    repeats = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
    if code in repeats:
        return [value[2]]
    return [value] if code is codes.ATOMIC_GROUP else []


def _starts(tree: Any, before: str = "") -> Iterator[str]:
    """Yield beginnings of texts that match, up to each part of the pattern."""
    for code, value in tree:
        if code is not codes.ASSERT_NOT:
            for part in _parts(code, value)[:MOST_BRANCHES]:
                yield from _starts(part, before)
        before += _example([(code, value)])
        if before:
            yield before[:200]


def _example(tree: Any) -> str:
    text = ""
    for code, value in tree:
        if code is codes.LITERAL:
            text += chr(value)
        elif code is codes.NOT_LITERAL:
            text += "b" if value == ord("a") else "a"
        elif code is codes.ANY:
            text += "a"
        elif code is codes.IN:
            text += _member("".join(map(_source, value)))
        elif code is not codes.ASSERT and code is not codes.ASSERT_NOT:
            text += "".join(map(_example, _parts(code, value)[:1])) * _least(code, value)
    return text


def _least(code: Any, value: Any) -> int:
    return min(max(1, int(value[0])), 50) if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) else 1


@cache
def _member(items: str) -> str:
    """Find a sign of the class."""
    shown = re.compile(f"[{items}]")
    return next(sign for sign in chain(CLASSES, map(chr, range(0x110000))) if shown.match(sign))


def _source(item: Any) -> str:
    code, value = item
    if code is codes.NEGATE:
        return "^"
    if code is codes.LITERAL:
        return re.escape(chr(value))
    if code is codes.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    return {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W",
    }[value]
