"""The request that asks a model a gold question."""

import base64
import hashlib
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from selection.errors import Refused
from selection.models import Endpoint, MediaFile, Question

from .adjustments import adjust_body
from .replies.choices import LETTERS, has_letter_clash

Parsing = Endpoint.Parsing

TEMPLATE = "{instructions}\n\n{question}\n\n{choices}\n\n{request}"
PLACEHOLDERS = ("instructions", "question", "choices", "request")
IMAGE_TOKENS = 3_000  # the most that a picture is expected to be charged as
MESSAGE_TOKENS = 16  # a message's own tokens, besides its text

_PLACEHOLDER = re.compile(r"(?<!\w)\{([^\W\d][\w .-]*)\}")  # not that of \boxed{A}
_FIELD = re.compile(r"\{([^{}\n]{1,100})\}")  # also a column's name
MEDIA = re.compile(r"!\[((?:(?!!\[)[^\]])*)\]\(<?((?:(?!!\[)[^)>\s])+)>?\)")
UNSEEN = re.compile(r"\.(mp3|m4a|ogg|wav|mp4|webm|mov)$", re.IGNORECASE)
# What a model is told about the form of its answer, by kind of question.
_REQUESTS = {
    "single": "Answer with the letter of the right choice only.",
    "multiple": "Answer with the letters of all right choices only, separated by commas.",
    "order": "Answer with the letters of all choices in the right order, separated by commas.",
    "number": "Answer with a number only.",
    "date": "Answer with a date only.",
    "time": "Answer with a time only.",
    "text": "Answer with the answer only, as briefly as possible.",
}
_WORD_REQUEST = "Answer with the right choice only, word for word."
_JSON_REQUEST = 'Answer with a JSON object only: {"answer": "…"}.'
_SCHEMA_REQUEST = 'Answer with a JSON object only: {{"answer": "…"}}, with the right choice, {}.'
_LAST_LINE_REQUEST = "Write the answer alone into the last line."


@dataclass(frozen=True)
class Prompt:
    """A request of a model.

    body        arguments of the chat completion
    digest      of the team, the server's address and the body
    tokens      the most input tokens that it can have: a token has one byte at least
    """

    body: dict[str, Any]
    digest: str
    tokens: int


def list_fields(template: str) -> list[str]:
    """List the names in braces, among which those of columns may be."""
    return _FIELD.findall(template)


def validate_template(template: str, columns: Collection[str] = ()) -> str:
    """Raise Refused for an unknown placeholder, or without the question.

    columns  of files of gold questions, which may be placeholders as well
    """
    unknown = set(_PLACEHOLDER.findall(template)) - {*PLACEHOLDERS, *columns}
    if unknown:
        names = ", ".join(f"{{{name}}}" for name in (*PLACEHOLDERS, *columns))
        raise Refused(f"The template has the placeholder {{{min(unknown)}}}; there are {names}.")
    if template and not {"question", *columns} & {*list_fields(template)}:
        raise Refused("The template lacks {question}, the place of the question's text.")
    return template


def build_prompt(endpoint: Endpoint, question: Question) -> Prompt:
    history = question.history
    text = _fill_template(endpoint, question)
    text, pictures = _split_pictures(text, question)
    content: Any = text
    if pictures:
        images = [{"type": "image_url", "image_url": {"url": url}} for url in pictures]
        content = [{"type": "text", "text": text}, *images]
    system = endpoint.system_prompt.strip()
    messages = [{"role": "system", "content": system}] if system else []
    messages += [*history[:-1], {"role": "user", "content": content}]
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": messages,
        endpoint.limit_name: endpoint.most_tokens,
    }
    if endpoint.reasoning_effort:
        body["reasoning_effort"] = endpoint.reasoning_effort
    if endpoint.temperature is not None:
        body["temperature"] = endpoint.temperature
    if endpoint.seed is not None:
        body["seed"] = endpoint.seed
    if _is_structured(endpoint, question):
        body["response_format"] = _answer_schema(question.choices)
    parts = (system, text, json.dumps(question.choices), json.dumps(history))
    tokens = sum(len(part.encode()) for part in parts)
    tokens += MESSAGE_TOKENS * len(messages) + IMAGE_TOKENS * len(pictures)
    body |= endpoint.extra_body
    body = {name: value for name, value in body.items() if value is not None}
    return Prompt(adjust_body(body, endpoint.adjustments), _digest_of(endpoint, body), tokens)


def _fill_template(endpoint: Endpoint, question: Question) -> str:
    last = question.history[-1].get("content") if question.history else question.prompt
    values = question.columns | {
        "instructions": question.question_set.instructions.strip(),
        "question": str(last).strip(),
        "choices": _list_choices(question),
        "request": _request_of(endpoint, question),
    }
    template = endpoint.template.strip() or TEMPLATE
    filled = _FIELD.sub(lambda found: values.get(found[1], found[0]), template)
    return re.sub(r"\n{3,}", "\n\n", filled).strip()


def _list_choices(question: Question) -> str:
    if has_letter_clash(question.choices):
        return "\n".join(f"- {choice}" for choice in question.choices)
    lettered = zip(LETTERS, question.choices, strict=False)
    return "\n".join(f"{letter}. {choice}" for letter, choice in lettered)


def _request_of(endpoint: Endpoint, question: Question) -> str:
    if _is_structured(endpoint, question):
        manner = "word for word" if has_letter_clash(question.choices) else "by its letter"
        return _SCHEMA_REQUEST.format(manner)
    if endpoint.parsing == Parsing.JSON:
        return _JSON_REQUEST
    if endpoint.parsing == Parsing.LAST_LINE:
        return _LAST_LINE_REQUEST
    too_many = len(question.choices) > len(LETTERS) or has_letter_clash(question.choices)
    if question.kind == "single" and (endpoint.parsing == Parsing.WORD or too_many):
        return _WORD_REQUEST
    return _REQUESTS[question.kind]


def _is_structured(endpoint: Endpoint, question: Question) -> bool:
    """Tell if the reply is constrained to one choice, which leaves no room for thoughts."""
    read = endpoint.parsing in (Parsing.AUTO, Parsing.JSON)
    has_request = not endpoint.template.strip() or "{request}" in endpoint.template
    few = len(question.choices) <= len(LETTERS)
    return endpoint.structured and read and has_request and few and question.kind == "single"


def _answer_schema(choices: list[str]) -> dict[str, Any]:
    """Write the schema of a reply: the letter is short, so a limit of tokens cuts nothing off."""
    names = choices if has_letter_clash(choices) else list(LETTERS[: len(choices)])
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": names}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    }


def _split_pictures(text: str, question: Question) -> tuple[str, list[str]]:
    """Put each picture's description in its place, and list the pictures' addresses."""
    pictures: list[str] = []

    def take_picture(found: re.Match[str]) -> str:
        pictures.append(_picture_address(found[2], question))
        return f"[Picture {len(pictures)}: {found[1]}]" if found[1] else ""

    return MEDIA.sub(take_picture, text).strip(), pictures


def _picture_address(place: str, question: Question) -> str:
    if UNSEEN.search(place):
        raise Refused(
            f"The question “{question}” has a sound or a film, which models are not sent."
        )
    if not place.startswith("media:"):
        return place
    name = place.removeprefix("media:")
    file = MediaFile.objects.filter(question_set=question.question_set_id, name=name).first()
    if file is None or not file.type.startswith("image/"):
        raise Refused(f"The question “{question}” names the picture “{name}”, which is not there.")
    return f"data:{file.type};base64,{base64.b64encode(file.data).decode()}"


def _digest_of(endpoint: Endpoint, body: dict[str, Any]) -> str:
    server = endpoint.server
    text = json.dumps([server.team_id, server.url, body], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
