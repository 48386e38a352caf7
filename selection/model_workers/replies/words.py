"""Words around an answer, in the languages that models reply in.

English, German, French, Spanish, Portuguese and Italian; less completely Russian, Arabic, Chinese,
Japanese, Korean, Dutch, Polish and Turkish.
"""

import re
from collections.abc import Iterable
from pathlib import Path


def join_words(*words: str) -> str:
    """Join words in a pattern, longest first; the words of a text are split at |.

    Words with the same beginning share it: that makes the search some times faster.
    """
    return f"(?:{_join_ends({_escape(word) for text in words for word in text.split('|')})})"


def _join_ends(words: set[tuple[str, ...]]) -> str:
    ends: dict[str, set[tuple[str, ...]]] = {}
    for sign, *rest in filter(None, words):
        ends.setdefault(sign, set()).add(tuple(rest))
    parts = [sign + _join_ends(rest) for sign, rest in sorted(ends.items())]
    if () in words:
        parts.append("")
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


def match_whole(*words: str) -> str:
    return rf"(?<!\w){join_words(*words)}(?!\w)"


def _escape(word: str) -> tuple[str, ...]:
    return tuple(r"[ \t]+" if sign == " " else re.escape(sign) for sign in word)


def read_table(rows: Iterable[str]) -> dict[str, str]:
    """Read rows like “12 twelve zwölf”: the words with the value before them."""
    return {word: row.split()[0] for row in rows for word in row.split()[1:]}


def _read_blocks(text: str) -> dict[str, list[str]]:
    """Read the lines of each block by its name, without comments."""
    blocks = {}
    for block in text.split("\n\n"):
        name, *rows = [line for line in block.splitlines() if not line.startswith("#")] or [""]
        blocks[name] = rows
    return blocks


_BLOCKS = _read_blocks(Path(__file__).with_name("words.txt").read_text(encoding="utf-8"))
FIGURES, SCALES = read_table(_BLOCKS["FIGURES"]), read_table(_BLOCKS["SCALES"])


def __getattr__(name: str) -> str:
    """Read the words of a block, with | between them."""
    try:
        return "".join(_BLOCKS[name])
    except KeyError:
        raise AttributeError(name) from None
