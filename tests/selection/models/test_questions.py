"""Gold questions: accepted answers."""

from selection.models import Question


def test_answer_matches_ignoring_capitals_and_spacing():
    question = Question(accepted=["New York", "NYC"])
    assert question.grade("  new   york ")
    assert question.grade("nyc")
    assert not question.grade("york")
