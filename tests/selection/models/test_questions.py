"""Gold questions: accepted answers."""

from selection.models import Question


def test_it_grades_against_any_accepted_answer_capitals_and_spacing_aside():
    question = Question(accepted=["New York", "NYC"])
    assert question.grade("  new   york ")
    assert question.grade("nyc")
    assert not question.grade("york")
