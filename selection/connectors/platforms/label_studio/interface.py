"""Labelling interfaces: the control that holds the answer, and interfaces for our questions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from selection.errors import Refused

Kind = Literal["choices", "rating", "number", "text"]
KINDS: dict[str, Kind] = {
    "choices": "choices",
    "rating": "rating",
    "number": "number",
    "textarea": "text",
}
_VARIABLE = re.compile(r"\$(\w+)")
_MULTIPLE = re.compile(r"""\bchoice=["']multiple["']""")
_MOST = re.compile(r"""\bmaxRating=["'](\d{1,9})["']""")
USUAL_RATING = 5

PROMPT = '<HyperText name="prompt" value="$prompt"/>'
CONTROLS = {
    "single": '<Choices name="answer" toName="prompt" choice="single" required="true" '
    'value="$choices"/>',
    "multiple": '<Choices name="answer" toName="prompt" choice="multiple" required="true" '
    'value="$choices"/>',
    "number": '<Number name="answer" toName="prompt" required="true"/>',
    "text": '<TextArea name="answer" toName="prompt" required="true" maxSubmissions="1"/>',
}
TYPED = {"text", "number", "date", "time"}  # kinds of questions that a text can answer
OWN_NAME = "answer"  # of the control in our interfaces


@dataclass(frozen=True)
class Control:
    """The control of an interface that holds the answer.

    choices  empty for typed answers
    shown    the task's data that the control is about, for example its text
    """

    name: str
    kind: Kind
    choices: list[str]
    multiple: bool
    shown: list[str]

    @property
    def grading(self) -> dict[str, Any]:
        if self.kind == "number":
            return {"number": True}
        return {"multiple": True} if self.multiple else {}


def read_control(project: Mapping[str, Any]) -> Control:
    """Read the control of a project. Raises Refused if there is none, or more than one.

    Of several controls the only one for choices counts: others are for remarks.
    """
    title, config = project.get("title", "?"), str(project.get("label_config", ""))
    parsed = project.get("parsed_label_config")
    controls = [
        (name, one)
        for name, one in (parsed if isinstance(parsed, dict) else {}).items()
        if isinstance(one, dict) and str(one.get("type", "")).lower() in KINDS
    ]
    choosing = [each for each in controls if each[1]["type"].lower() == "choices"]
    chosen = choosing if len(choosing) == 1 else controls
    if len(chosen) != 1:
        names = ", ".join(f"“{name}”" for name, _ in controls) or "none"
        raise Refused(
            f"The project “{title}” needs one control for choices, a rating, a number or a text; "
            f"it has {names}."
        )
    name, match = chosen[0]
    kind = KINDS[match["type"].lower()]
    inputs = [each for each in match.get("inputs", ()) if isinstance(each, dict)]
    tag = _tag_of(config, name)
    return Control(
        name,
        kind,
        _choices_of(kind, match, tag),
        kind == "choices" and bool(_MULTIPLE.search(tag)),
        [str(each["value"]).lstrip("$") for each in inputs if each.get("value")],
    )


def _choices_of(kind: Kind, found: Mapping[str, Any], tag: str) -> list[str]:
    if kind == "rating":
        most = _MOST.search(tag)
        return [str(n) for n in range(1, int(most[1] if most else USUAL_RATING) + 1)]
    return [str(label) for label in found.get("labels", ())] if kind == "choices" else []


def _tag_of(config: str, name: str) -> str:
    for tag in re.findall(r"<\w[^<>]*>", config):
        if re.search(rf"""\bname=["']{re.escape(name)}["']""", tag):
            return str(tag)
    return ""


def variables_of(config: str) -> set[str]:
    """Find the names of the task's data that the interface shows."""
    return set(_VARIABLE.findall(config))


def build_interface(kind: str) -> str:
    """Build an interface for questions of this kind. Raises Refused for an order."""
    if kind not in CONTROLS:
        raise Refused(f"Label Studio has no control for questions of the kind “{kind}”.")
    return f"<View>{PROMPT}{CONTROLS[kind]}</View>"
