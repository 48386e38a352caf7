"""Scores between 0 and 1 in place of right and wrong answers, such as ratings of a judge."""

KEY = "a score from 0 to 1"  # the known answer of a question whose answers are scores


def parse_score(text: str) -> float:
    score = float(text)
    if not 0 <= score <= 1:
        raise ValueError(f"“{text}” is not from 0 to 1.")
    return score
