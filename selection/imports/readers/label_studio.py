"""Find the choices of a project of Label Studio or doccano: exports of tasks do not list them.

They are those of the labelling configuration if the file has it, else the labels that occur in it,
of any annotator. Only for projects with a single control for choices: with several, a label could
belong to any of them. Beside it there may be controls of other kinds, such as for comments.
"""

import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from selection.texts import counted

_TEXT = r'"(?:[^"\\]|\\.)*+"'
_CHOSEN = re.compile(rf'"value"\s*:\s*{{\s*"choices"\s*:\s*(\[\s*+(?:{_TEXT}\s*+,?\s*+)*+\])')
_DOCCANO = re.compile(r'\s*+\[?\s*+\{\s*+"id"\s*+:\s*+\d++\s*+,\s*+"(?:text|data)"\s*+:')
_LABEL = re.compile(rf'"label"\s*:\s*(\[\s*+(?:{_TEXT}\s*+,?\s*+)*+\])')
_CONTROL = re.compile(rf'"from_name"\s*:\s*({_TEXT})')
_RESULT = re.compile(r"[^{}\[\]]+")  # without its value
_OF_CHOICES = re.compile(r'"type"\s*:\s*"choices"')
_CONFIG = re.compile(rf'"label_config"\s*:\s*({_TEXT})')
_CONTROLS = re.compile(r"<Choices\b[^<>]*>")
_CHOICE = re.compile(r"""<Choice\b[^<>]*?\bvalue=(?:"([^"]*)"|'([^']*)')""")
_MULTIPLE = re.compile(r"""\bchoice=["']multiple["']""")
MOST = 200  # more are texts rather than choices
BETWEEN = "|"


@dataclass(frozen=True)
class Choices:
    """The choices of a project.

    several      True if more than one may be ticked
    control      the control for choices if there are others; "" if it is the only one
    description  their origin, in words
    """

    labels: list[str]
    several: bool
    description: str
    control: str = ""


def read_choices(text: str) -> Choices | None:
    controls = {json.loads(match[1], strict=False) for match in _CONTROL.finditer(text)}
    if len(controls) > 1:
        return _sole_control(text)
    if not controls and not _DOCCANO.match(text):
        return None
    try:
        choices = _configured_choices(text) if controls else _occurring_choices(text, _LABEL)
        choices = choices or _occurring_choices(text, _CHOSEN)
    except ValueError:  # the reader of its rows says what is wrong
        return None
    unclear = any(BETWEEN in label for label in choices.labels)
    return choices if 2 <= len(choices.labels) <= MOST and not unclear else None


def _sole_control(text: str) -> Choices | None:
    """Find the only control for choices beside controls of other kinds, without its choices."""
    results = (match[0] for match in _RESULT.finditer(text) if _OF_CHOICES.search(match[0]))
    chosen = {match[1] for result in results for match in _CONTROL.finditer(result)}
    if len(chosen) != 1:
        return None
    control = json.loads(chosen.pop(), strict=False)
    return Choices([], False, f"the label is that of the control “{control}”", control)


def _configured_choices(text: str) -> Choices | None:
    match = _CONFIG.search(text)
    config = json.loads(match[1], strict=False) if match else ""
    controls = _CONTROLS.findall(config)
    if len(controls) != 1:
        return None
    labels = _distinct_labels(html.unescape(a or b) for a, b in _CHOICE.findall(config))
    several = bool(_MULTIPLE.search(controls[0]))
    return Choices(labels, several, f"its configuration has {counted(len(labels), 'choice')}")


def _occurring_choices(text: str, pattern: re.Pattern[str]) -> Choices:
    chosen = {match[1] for match in pattern.finditer(text)}  # few, however long the file
    lists = [json.loads(group, strict=False) for group in sorted(chosen)]
    labels = _distinct_labels(label for group in lists for label in group)
    several = any(len(group) > 1 for group in lists)
    return Choices(
        labels, several, f"as choices, the {counted(len(labels), 'label')} that occur in it"
    )


def _distinct_labels(labels: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(label.strip() for label in labels if label.strip()))
