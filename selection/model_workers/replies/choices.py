"""Choices in a part of a reply: by text or letter, never against a denial."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import words
from .frames import fold_signs

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ARABIC = "أبجد"
MOST_HEDGES = 5
_JOINED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_GAP = re.compile(r"[\s*_\"'`~()\[\]{}<>$#|:;.,!=/&+✓✅✔☑✗→–—\\-]*")
_AND = re.compile(rf"{words.match_whole(words.CONJUNCTIONS)}[ \t]*", re.IGNORECASE)
_OR = re.compile(rf"{words.match_whole(words.ALTERNATIVES)}[ \t]*", re.IGNORECASE)
_TO = re.compile(rf"{words.match_whole(words.RANGES)}[ \t]*", re.IGNORECASE)
_DEGREE = words.match_whole(words.DEGREES)
_DEGREE_BEFORE = re.compile(rf"{_DEGREE}[ \t]+\Z", re.IGNORECASE)
_DEGREE_AFTER = re.compile(rf"[ \t,]+{_DEGREE}", re.IGNORECASE)
_HEDGE = re.compile(
    rf"(?:{words.match_whole(words.HEDGES)}|选项|選択肢|选)[\s:*_\"'(]*", re.IGNORECASE
)
_NUMBERED = re.compile(
    rf"(?:{words.join_words('option|choice|alternative|opción|opção|opzione|вариант|选项|選択肢|#')})"
    r"[ \t]*#?(\d{1,2})(?![\w/]|[.,]\d)",
    re.IGNORECASE,
)
_OPENER = re.compile(
    rf"[\s*_]*+(?:{words.match_whole(words.OPENERS)}[\s,:]*|"
    r"(?:q|question|frage)?[ \t]*\d{1,2}[.):][ \t]+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_TURNED = re.compile(
    r"[ \t]*[,.→—(-][ \t]*"
    r"(?:(?:(?:no|nein)(?=[ \t]*[,.!:]|[ \t]+(?:wait|sorry|actually))|oops|wait|actually|sorry|"
    r"scratch that|correction)[ \t,.!:]+)+",
    re.I,
)
_LETTER = re.compile(
    r"([A-Za-z])(?:(?<=__.)(?=__(?!\w))|(?![^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|['’]\w)"
    r"(?!\.[A-Za-z]))|([أبجد])(?!\w)"
)
_AFTER = re.compile(
    rf"\s*(?:$|\n|[.,;:!?(\[)\]}}\"'*_`$|<>/&+~\\]|[-–—](?!\w)|{words.match_whole(words.CONNECTIVES)}|"
    rf"{words.match_whole(words.CONJUNCTIONS, words.ALTERNATIVES)}|[-–—→=✓✅✔]|"
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:$|\n|[.,;:!?(\[)\]}\"'*_`$|<>/&+~\\]|[-–—→])")
_DENIED = re.compile(
    rf"[\s*_\"')\]]*+(?:(?:{words.match_whole('is|are|was|would be|ist|est|es|é|è')}[ \t]+)?"
    rf"(?:{words.match_whole('definitely|clearly|also|simply|therefore|probably|likely')}[ \t]+)?"
    rf"{words.match_whole(words.WRONG)}|(?:is|are|was)n't|{words.join_words(words.NEGATED_AFTER_JOINED)})",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    rf"{words.match_whole(words.NEGATIONS)}|n't|[^\W\d_]n't|{words.join_words(words.NEGATIONS_JOINED)}",
    re.IGNORECASE,
)
_BUT = re.compile(words.match_whole("but|sondern|sino|mais|mas|ma|rather|а|بل"), re.IGNORECASE)
_CONDITION = re.compile(
    rf"[\s,*_)\"']*+(?:{words.join_words(words.CONDITIONS)})(?!\w)", re.IGNORECASE
)
_QUERY = re.compile(r"[^.!?\n]{0,80}\?")
_NOTHING = re.compile(rf"[\s*_\"'(]*+{words.match_whole(words.NOTHING)}", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """Choices at the beginning of a text. rest: the text after; open: if they are alternatives."""

    chosen: tuple[int, ...]
    rest: str
    open: bool = False


class ChoiceReader:
    """Finds the choices of one question."""

    def __init__(self, choices: Sequence[str], several: bool = False) -> None:
        self.choices, self.several = list(choices), several
        self.texts = [" ".join(fold_signs(choice).split()) for choice in choices]
        self.lettered = not has_letter_clash(choices)
        self.numbered = any(any(map(str.isdigit, text)) for text in self.texts)
        self._spoken = self._map_spoken()
        # “agree strongly” is the choice “strongly agree”.
        pairs = [*enumerate(self.texts)]
        pairs += [(i, " ".join(reversed(t.split()))) for i, t in pairs if _has_degree(t)]
        pairs.sort(key=lambda pair: -len(pair[1]))
        self._named = [index for index, _ in pairs]
        folded = [text.casefold() for text in self.texts]
        self._graded = {
            i for i, text in enumerate(folded) if any(t.endswith(f" {text}") for t in folded)
        }
        texts = "|".join(f"({_pattern(text)})" for _, text in pairs)
        self._text = re.compile(texts or r"(?!)", re.IGNORECASE)

    def take(self, text: str, fresh: bool = True) -> Part:
        """Read the choices at the beginning of the text, as far as they are listed."""
        numbers: list[int] = []
        place, opened = 0, False
        while True:
            start = _skip_gap(text, place)
            if numbers and "\n" in text[place:start]:
                break
            if numbers and (joint := _OR.match(text, start) or _TO.match(text, start)):
                opened, start = True, joint.end()
            elif numbers and (joint := _AND.match(text, start)):
                start = joint.end()
            start = _skip_gap(text, start)
            part = self._take_one(text, start, first=not numbers)
            if part is None:
                break
            numbers.append(part[0])
            place = part[1]
        chosen = tuple(dict.fromkeys(numbers))
        return Part(chosen, text[place:], opened and len(chosen) > 1)

    def read_whole(self, text: str) -> tuple[int, ...]:
        """Read the choices if the text is nothing but them; else none."""
        part, opener = self.take(text), _OPENER.match(text)
        if opener and not (self.numbered and part.chosen):
            part = self.take(text[opener.end() :])
        alone = not part.rest.strip(" \t\n*_\"'`~()[]{}<>$#|:;.,!/\\-–—✓✅✔")
        return part.chosen if alone and self._is_clear(part) else ()

    def read_stated(self, text: str) -> tuple[int, ...] | None:
        """Read the choices that a statement begins with: empty if it names none of them clearly.

        None  the statement says nothing about the choices.
        """
        if _NOTHING.match(text):
            return self.read_whole(text.split("\n", 1)[0])
        part = self.take(text)
        if not part.chosen:
            return self._read_contrast(text)
        if _DENIED.match(part.rest):
            return None
        if turn := _TURNED.match(part.rest):
            return self.read_stated(part.rest[turn.end() :][:200]) or ()
        if not self._is_clear(part) or _CONDITION.match(part.rest):
            return ()
        return part.chosen

    def read_mentions(self, text: str) -> tuple[int, ...]:
        """Find the choices that the text mentions; none if a common word may be another one."""
        chosen: dict[int, None] = {}
        vague: set[int] = set()
        for match in self._text.finditer(text):
            index, place = self._index_of(match), match.span()
            if _is_denied(text, *place):
                continue
            if self._is_graded(index, text, *place):
                vague.add(-1)
            elif not self._is_common(index) or _is_alone(text, *place):
                chosen[index] = None
            elif self.texts[index].casefold() not in _ARTICLES:
                vague.add(index)
        return () if vague - {*chosen} else tuple(chosen)

    def _is_graded(self, index: int, text: str, start: int, end: int) -> bool:
        """Tell if an adverb of degree stands beside a choice of which there are degrees."""
        return index in self._graded and bool(
            _DEGREE_BEFORE.search(text[max(0, start - 30) : start])
            or _DEGREE_AFTER.match(text, end)
        )

    def _take_one(self, text: str, start: int, first: bool) -> tuple[int, int] | None:
        for _ in range(MOST_HEDGES):
            part = self._take_here(text, start, first)
            hedge = None if part else _HEDGE.match(text, start)
            if hedge is None or hedge.end() == start:
                return part
            start = hedge.end()
        return None

    def _take_here(self, text: str, start: int, first: bool) -> tuple[int, int] | None:
        match = self._text.match(text, start)
        end = match.end() if match else start
        if match and self._is_graded(self._index_of(match), text, start, end):
            return None
        if match and (first or _ENDS.match(text, end) or _is_joined(text, end)):
            return self._index_of(match), end
        spoken = _WORD.match(text, start)
        index = self._spoken.get(spoken[0].casefold()) if spoken else None
        end = spoken.end() if spoken else start
        if index is not None and (_ENDS.match(text, end) or (first and _AFTER.match(text, end))):
            return index, end
        index = self._read_letter(text, start, first)
        if index is not None:
            return index, start + 1
        number = None if self.numbered else _NUMBERED.match(text, start)
        if number and 0 < int(number[1]) <= len(self.choices):
            return int(number[1]) - 1, number.end()
        return None

    def _read_letter(self, text: str, start: int, first: bool) -> int | None:
        match = _LETTER.match(text, start) if self.lettered else None
        if match is None:
            return None
        small = match[0].islower()
        follows = _ENDS if small or not first else _AFTER
        if not (follows.match(text, match.end()) or (not first and _is_joined(text, match.end()))):
            return None
        index = _ARABIC.find(match[2]) if match[2] else LETTERS.find(match[1].upper())
        return index if 0 <= index < len(self.choices) else None

    def _read_contrast(self, text: str) -> tuple[int, ...] | None:
        """Read “not A but B”."""
        denial, turn = _DENIAL.search(text[:20]), _BUT.search(text[:200])
        if denial is None or turn is None or "\n" in text[: turn.start()]:
            return None
        part = self.take(text[turn.end() :])
        return part.chosen if part.chosen and self._is_clear(part) else None

    def _is_clear(self, part: Part) -> bool:
        return bool(part.chosen) and not part.open and (self.several or len(part.chosen) == 1)

    def _index_of(self, found: re.Match[str]) -> int:
        return self._named[(found.lastindex or 1) - 1]

    def _is_common(self, index: int) -> bool:
        text = self.texts[index].casefold()
        return len(text) < 2 or text in _COMMON

    def _map_spoken(self) -> dict[str, int]:
        """Map the other words for the choices yes and no, if there are both."""
        texts = [text.casefold().strip(" .,:;!?") for text in self.texts]
        yes = [index for index, text in enumerate(texts) if text in _YES]
        no = [index for index, text in enumerate(texts) if text in _NO]
        if len(yes) != 1 or len(no) != 1:
            return {}
        return dict.fromkeys(_YES, yes[0]) | dict.fromkeys(_NO, no[0])


_YES, _NO = frozenset(words.YES.split("|")), frozenset(words.NO.split("|"))
_COMMON = frozenset(words.COMMON.split("|"))
_ARTICLES = frozenset(words.ARTICLES.split("|"))


def _has_degree(text: str) -> bool:
    return len(text.split()) == 2 and bool(re.match(_DEGREE, text, re.IGNORECASE))


def has_letter_clash(choices: Sequence[str]) -> bool:
    """Tell if a choice is itself the letter of another one: then letters say nothing."""
    texts = [fold_signs(choice).strip(" .)(").upper() for choice in choices]
    letters = LETTERS[: len(texts)]
    return any(len(text) == 1 and letters.find(text) not in (-1, i) for i, text in enumerate(texts))


def _pattern(text: str) -> str:
    bare = text.rstrip(".") or text
    signs = [
        "[iıİI]\u0307?" if sign in "iıİI" else r"\s+" if sign.isspace() else re.escape(sign)
        for sign in bare
    ]
    before = after = ""
    if bare[:1].isalnum() and not _JOINED.match(bare[0]):
        word = r"(?<![^\W\u3040-\u9fff])(?<!\w-)"
        before = r"(?<![\w-])(?<!\d[.,])" if bare[0].isdigit() else word
    if bare[-1:].isalnum() and not _JOINED.match(bare[-1]):
        word = r"(?![^\W\u3040-\u9fff])(?!-\w)(?!'\w)"
        after = r"(?!\w|[.,:/]\d|\s*%)" if bare[-1].isdigit() else word
    return before + "".join(signs) + after


def _is_denied(text: str, start: int, end: int) -> bool:
    """Tell if the words around the place deny it."""
    clause = re.split(r"[.;:!?\n]|,\s*(?!or\b|nor\b|oder\b)", text[max(0, start - 60) : start])[-1]
    turn = None if "thing but" in clause else _BUT.search(clause)
    clause = clause[turn.end() :] if turn else clause
    return bool(_QUERY.match(text, end) or _DENIAL.search(clause) or _DENIED.match(text, end))


def _is_alone(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 3) : start].strip(" *_\"'`([")
    return (not before or before[-1] in ".,;:!?\n=—–>") and bool(_ENDS.match(text, end))


_JOINT = re.compile(
    rf"[\s*_\"')]++(?:{words.match_whole(words.CONJUNCTIONS, words.ALTERNATIVES, words.RANGES)})",
    re.IGNORECASE,
)


def _skip_gap(text: str, place: int) -> int:
    gap = _GAP.match(text, place)
    return gap.end() if gap else place


def _is_joined(text: str, end: int) -> bool:
    return bool(_JOINT.match(text, end))
