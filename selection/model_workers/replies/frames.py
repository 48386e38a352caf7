"""A reply without its surroundings: thoughts, channels, special tokens, invisible marks, LaTeX."""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from selection.grading.keys import normalise_unicode

MOST_TRIES = 50  # places of a reply at which a JSON object may begin
_THOUGHT = (
    "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think|"
    "begin_of_thought|end_of_thought|start_thinking|end_thinking"
)
_TAG = re.compile(
    rf"[<◁]/?\|?/?(?:{_THOUGHT})\|?[>▷]|\[/?think(?:ing)?\]|<unused9[45]>|"
    r"<\|channel>(?=thought)|<channel\|>",
    re.IGNORECASE,
)
_TAG_ENDS = re.compile(r"/|end_|95>|<channel\|", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final[^<]{0,100}<\|message\|>")
_BEGIN = re.compile(
    r"(?:<\|(?:im_start|start_header_id|start|begin_of_text)\|>|<start_of_turn>|<s>|<bos>|\[/INST\])"
    r"\s*(?:assistant|model)?\s*(?:<\|(?:end_header_id|message)\|>)?"
)
_END = re.compile(
    r"<\|(?:im_end|end|eot_id|eot|eom_id|endoftext|end_of_text|return|user|call)\|>|</s>|<eos>|"
    r"<end_of_turn>|<｜end▁of▁sentence｜>|<\|END_RESPONSE\|>|\[INST\]|"
    r"\n\n(?:Question|Q|Human|User)(?: \d{1,4})?:"
)
_TOKEN = re.compile(r"<[|｜][^<>|｜\n]{1,40}[|｜]>")
_FENCE = re.compile(r"```[\w+-]*\n([^`]*?)\n?```")
_INVISIBLE = dict.fromkeys(
    [0xAD, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A)]
)
# One character for another: full-width signs, circled letters, quotation marks, Arabic digits.
_PLAIN = (
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | {start + i: 65 + i for start in (0x24B6, 0x1F150, 0x1F170) for i in range(26)}
    | {start + i: 97 + i for start in (0x24D0, 0x249C) for i in range(26)}
    | {
        code: str(unicodedata.digit(chr(code)))
        for code in [*range(0x660, 0x66A), *range(0x6F0, 0x6FA)]
    }
    | str.maketrans(
        "。、،؟؛٫٬「」『』【】〔〕《》’‘‚“”„«»А\u3000",
        ".,,?;," + "'" + '""""[][]""' + "'''" + '"""""A ',
    )
)
_WRAPPER = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathsf|mathit|operatorname|mbox|emph)\s*\{([^{}]*)\}"
)
_LATEX = {"{,}": ",", "\\,": "\u202f", "\\%": "%", "\\$": "$", "\\times": "×", "\\cdot": "×"}
_LATEX |= {"\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\;": " ", "\\ ": " "}
_LATEX |= dict.fromkeys(("\\left", "\\right", "\\(", "\\)", "\\[", "\\]", "\\!"), "")


def strip_frame(reply: str) -> str:
    text = _strip_thoughts(_open_channel(reply.translate(_INVISIBLE)))
    text = _BEGIN.sub("", text).lstrip()
    end = _END.search(text, 1) if text else None
    return _TOKEN.sub("", text[: end.start()] if end else text).strip()


def strip_fence(text: str) -> str:
    fenced = _FENCE.fullmatch(text)
    return fenced[1].strip() if fenced else text


def fold_signs(text: str) -> str:
    """Convert the text to the signs that rules and choices are compared in."""
    return normalise_unicode("NFC", text).translate(_INVISIBLE).translate(_PLAIN)


def strip_latex(text: str) -> str:
    if "\\" not in text and "{," not in text:
        return text
    for _ in range(3):  # one wrapper in another
        text = _WRAPPER.sub(r"\1", text)
    for mark, sign in _LATEX.items():
        text = text.replace(mark, sign)
    return text


def find_boxes(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield the position and the inside of every \boxed{}."""
    for match in re.finditer(r"\\f?boxed\s*\{", text):
        depth, start = 1, match.end()
        for place in range(start, min(len(text), start + 500)):
            depth += {"{": 1, "}": -1}.get(text[place], 0)
            if depth == 0:
                yield match.start(), text[start:place]
                break


def find_objects(text: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield start, end and value of every JSON object, until too many braces were none."""
    decoder, place = json.JSONDecoder(), 0
    for _ in range(MOST_TRIES):
        place = text.find("{", place)
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(text, place)
            yield place, end, value
        except (ValueError, RecursionError):
            end = place + 1
        place = end


def _open_channel(text: str) -> str:
    """Open the final channel of a reply in channels; empty if the reply has only others."""
    if "<|channel|>" in text:
        *_, last = [None, *_FINAL_CHANNEL.finditer(text)]
        return text[last.end() :] if last else ""
    if text.startswith("analysis") and "assistantfinal" in text:
        return text.rpartition("assistantfinal")[2]
    return text


def _strip_thoughts(text: str) -> str:
    """Remove thoughts: also text before an end without a beginning, and after the reverse."""
    rest, place, thinking = "", 0, False
    for tag in _TAG.finditer(text):
        starts = not _TAG_ENDS.search(tag[0])
        if not thinking:
            rest = rest + text[place : tag.start()] if starts else ""
        thinking, place = starts, tag.end()
    return rest + ("" if thinking else text[place:])
