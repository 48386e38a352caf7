"""Prompts of models."""

from typing import Any

import pytest

from selection.errors import Refused
from selection.model_workers.prompts import build_prompt, validate_template
from selection.models import Endpoint, MediaFile, ModelServer, Question, QuestionSet

pytestmark = pytest.mark.django_db


def make_endpoint(**settings: Any) -> Endpoint:
    return Endpoint(server=ModelServer(url="http://x/v1", team_id=1), model="m", **settings)


def make_question(prompt: str = "Which colour?", **fields: Any) -> Question:
    asked = QuestionSet.objects.create(name="set", instructions="Look closely.")
    values = {"accepted": ["red"], "choices": ["red", "blue"]} | fields
    return Question.objects.create(question_set=asked, number=0, key="q", prompt=prompt, **values)


def test_ask_with_lettered_choices() -> None:
    endpoint = make_endpoint(system_prompt="You are a painter.", structured=False)
    body = build_prompt(endpoint, make_question()).body
    assert body["messages"] == [
        {"role": "system", "content": "You are a painter."},
        {
            "role": "user",
            "content": "Look closely.\n\nWhich colour?\n\nA. red\nB. blue\n\n"
            "Answer with the letter of the right choice only.",
        },
    ]
    assert body["temperature"] == 0
    assert "seed" not in body


def test_never_send_the_answer() -> None:
    question = make_question(accepted=["azure"], choices=[])
    assert "azure" not in str(build_prompt(make_endpoint(), question).body)


def test_fill_an_own_template() -> None:
    endpoint = make_endpoint(template='{question} -- {choices} {"answer": 1}')
    content = build_prompt(endpoint, make_question()).body["messages"][0]["content"]
    assert content == 'Which colour? -- A. red\nB. blue {"answer": 1}'


def test_fill_in_columns_of_the_file() -> None:
    endpoint = make_endpoint(template="{topic}: {question}")
    question = make_question(columns={"topic": "Art", "question": "not this"})
    content = build_prompt(endpoint, question).body["messages"][0]["content"]
    assert content == "Art: Which colour?"


def test_equal_requests_have_equal_digests_in_a_team() -> None:
    question = make_question()
    first = build_prompt(make_endpoint(), question).digest
    assert first == build_prompt(make_endpoint(price_in=3), question).digest
    assert first != build_prompt(make_endpoint(temperature=1), question).digest
    other = make_endpoint()
    other.server.team_id = 2
    assert first != build_prompt(other, question).digest


def test_ask_for_structured_output() -> None:
    body = build_prompt(make_endpoint(structured=True), make_question()).body
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["A", "B"]


def test_send_pictures_of_the_set_along() -> None:
    question = make_question("![a bird](<media:bird.png>) Which bird?")
    MediaFile.objects.create(
        question_set=question.question_set, name="bird.png", type="image/png", size=3, data=b"abc"
    )
    parts = build_prompt(make_endpoint(), question).body["messages"][0]["content"]
    assert "[Picture 1: a bird] Which bird?" in parts[0]["text"]
    assert parts[1]["image_url"]["url"] == "data:image/png;base64,YWJj"


@pytest.mark.parametrize("place", ["media:lost.png", "https://example.org/a.mp3"])
def test_media_unsuitable_for_models_is_refused(place: str) -> None:
    with pytest.raises(Refused, match="“q”"):
        build_prompt(make_endpoint(), make_question(f"![x](<{place}>)"))


def test_count_at_least_the_tokens_that_the_request_can_have() -> None:
    prompt = build_prompt(make_endpoint(system_prompt="ü" * 100), make_question())
    assert prompt.tokens >= 200 + len("Look closely. Which colour?")


@pytest.mark.parametrize(
    "template", ["Answer: {choices}", "{question} {key}", "{question} {The Key}"]
)
def test_refuse_a_template_without_question_or_with_unknown_places(template: str) -> None:
    with pytest.raises(Refused, match=r"\{"):
        validate_template(template)


def test_braces_that_are_no_place_are_left() -> None:
    validate_template('{question} Write \\boxed{A} or {"answer": "A"}.')


@pytest.mark.parametrize(
    ("values", "structured"),
    [({}, True), ({"parsing": "word"}, False), ({"template": "{question} Think."}, False)],
)
def test_choice_is_asked_for_as_json_unless_another_form_is_wanted(
    values: dict[str, str], structured: bool
) -> None:
    body = build_prompt(make_endpoint(**values), make_question()).body
    assert ("response_format" in body) is structured


def test_choices_that_are_other_letters_are_asked_for_by_their_text() -> None:
    body = build_prompt(make_endpoint(), make_question(choices=["B", "A"])).body
    assert "- B\n- A" in body["messages"][-1]["content"]
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["B", "A"]
