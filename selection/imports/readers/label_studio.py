"""The choices that annotators of a Label Studio project have: exports of tasks do not list them.

They are those of the labelling configuration where it lies in the file, else the labels that occur
in it, whoever gave them. Only of projects in which one thing is chosen: of several nobody could
tell whose choices a label is.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

_TEXT = r'"(?:[^"\\]|\\.)*"'
_CHOSEN = re.compile(rf'"value"\s*:\s*{{\s*"choices"\s*:\s*(\[(?:\s*{_TEXT}\s*,?)*\s*\])')
_CONTROL = re.compile(rf'"from_name"\s*:\s*({_TEXT})')
_CONFIG = re.compile(rf'"label_config"\s*:\s*({_TEXT})')
_CONTROLS = re.compile(r"<Choices\b[^>]*>")
_CHOICE = re.compile(r"""<Choice\b[^>]*?\bvalue=(?:"([^"]*)"|'([^']*)')""")
_MULTIPLE = re.compile(r"""\bchoice=["']multiple["']""")
_NAMED = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
MOST = 200  # more are no choices but texts
BETWEEN = "|"


@dataclass(frozen=True)
class Choices:
    """several  whether more than one may be ticked
    said     where they come from, in words
    """

    labels: list[str]
    several: bool
    said: str


def read_choices(text: str) -> Choices | None:
    """Of the project that this text is an export of; None where it does not tell."""
    if len({match[1] for match in _CONTROL.finditer(text)}) != 1:
        return None
    try:
        found = _configured_choices(text) or _occurring_choices(text)
    except ValueError:  # the reader of its rows says what is wrong
        return None
    usable = 2 <= len(found.labels) <= MOST and not any(BETWEEN in one for one in found.labels)
    return found if usable else None


def _configured_choices(text: str) -> Choices | None:
    there = _CONFIG.search(text)
    config = json.loads(there[1], strict=False) if there else ""
    controls = _CONTROLS.findall(config)
    if len(controls) != 1:
        return None
    labels = _distinct_labels(_unescape_value(a or b) for a, b in _CHOICE.findall(config))
    several = bool(_MULTIPLE.search(controls[0]))
    return Choices(labels, several, f"its configuration has {len(labels)} choices")


def _occurring_choices(text: str) -> Choices:
    chosen = {match[1] for match in _CHOSEN.finditer(text)}  # few, however long the file
    lists = [json.loads(each, strict=False) for each in sorted(chosen)]
    labels = _distinct_labels(label for each in lists for label in each)
    several = any(len(each) > 1 for each in lists)
    return Choices(labels, several, f"as choices, the {len(labels)} labels that occur in it")


def _distinct_labels(labels: Iterable[str]) -> list[str]:
    """In order, as cells are read."""
    return list(dict.fromkeys(label.strip() for label in labels if label.strip()))


def _unescape_value(value: str) -> str:
    for named, sign in _NAMED.items():
        value = value.replace(named, sign)
    return value
