"""The answers that a pass mark takes besides those of a run's rule, in words."""

from selection.texts import count_noun
from selection.viewer_locale import format_percent, places_of
from topk.pass_mark import expected_answers

ABOVE = (0.5, 0.75)  # example accuracies, between the mark and 1


def describe_mark_cost(mark: float, workers: int, delta: float) -> str:
    """Say how many answers it needs of each selected worker; the forecast has none."""
    examples = []
    for share in ABOVE:
        accuracy = mark + share * (1 - mark)
        if answers := expected_answers(accuracy, mark, workers, delta):
            noun = count_noun(answers, "answer")
            examples.append(f"{noun} from a worker with {_percent(accuracy)} right")
    return (
        f"To show that a selected worker reaches the pass mark of {_percent(mark)} takes about "
        f"{' and '.join(examples)}. The forecast leaves out those that the rule does not need."
    )


def _percent(share: float) -> str:
    percent = round(100 * share, 2)
    return format_percent(percent / 100, places_of(percent))
