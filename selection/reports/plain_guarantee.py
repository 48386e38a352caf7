"""The guarantee and what weakens it in one short sentence each, for people.

The exact sentences (``guarantee_texts``) are those of files, messages and the API.
"""

from selection import viewer_locale
from selection.models import Run
from selection.runs.settings import algorithm_choices
from topk import Goal, Promise
from topk.promise import ordinal

FIXED_BUDGET = "No guarantee: this method spends its budget and selects the workers who look best."
TOO_FEW = "No guarantee: there are too few answers."
LOST = "No guarantee: workers joined or left after answers had counted."
MEANINGS = {
    Goal.MARK: "each of the selected answers at least {least} right{among}",
    Goal.EXACT: "these are the best {k}{among}",
    Goal.EXPLORE_K: "each selected worker is at most {points} less accurate than the {kth} "
    "best{among}",
    Goal.AGGREGATE: "the {k} selected are on average at most {points} less accurate than the "
    "best {k}{among}",
}
MEAN_SHARE = "On average, at most {share} of the selected answer less than {least} right."
MEANINGS_OF_ONE = {
    Goal.MARK: "the selected one answers at least {least} right{among}",
    Goal.EXACT: "this is the best{among}",
    **dict.fromkeys(
        (Goal.EXPLORE_K, Goal.AGGREGATE),
        "the selected one is at most {points} less accurate than the best{among}",
    ),
}
AVERAGE = (
    "For {sure} in 100 crowds like yours, the {k} selected workers are on average at most {points} "
    "less accurate than the best {k}{among}."
)
AVERAGE_OF_ONE = (
    "For {sure} in 100 crowds like yours, the selected one is at most {points} less accurate than "
    "the best{among}."
)
# In a few words, by the code of the doubt.
DOUBTS = {
    "population": "this crowd may be of groups with very different accuracy",
    "rough": "the fit to this crowd is rough",
    "gap": "the best workers may be clearly ahead of the rest",
    "few-answers": "some workers gave fewer than two answers and are assumed to be like the others",
    "nearly-equal": "the workers are nearly equal, and a few may just lead or trail the others",
    "same-questions": "workers err on the same questions, so their answers are not independent",
    "chosen-questions": "workers may have chosen which questions they answered",
    "earlier-run": "it starts from a run with other questions",
}
LIMITS = " Not covered: a crowd in which some workers just lead or trail nearly equal others."
EARLY_LIMITS = " Not covered at an early end: a crowd of two groups that are far apart."


def count_points(difference: float) -> str:
    """Count a difference of accuracies in percentage points, with the noun: 9.6 points."""
    points = viewer_locale.format_points(difference)
    return f"{points} point{'' if points == '1' else 's'}"


def state_guarantee(
    run: Run, promise: Promise, workers: int, epsilon: float | None = None, among: str = ""
) -> str:
    """State in one sentence the guarantee of the run, or with the ``epsilon`` achieved.

    among  the workers that it is about, after “the best 5”, if they are not all
    """
    if run.several and promise.fixed != "budget":
        return algorithm_choices.guarantee_sentence(run, promise, workers, epsilon)
    sentence = state_plan_guarantee(promise, run.k, run.epsilon, run.delta, epsilon, among)
    limits = LIMITS if promise.average and promise.limits else ""
    early = promise.early_limits and (epsilon or 0) > run.epsilon
    return sentence + limits + (EARLY_LIMITS if early else "")


def state_plan_guarantee(
    promise: Promise,
    k: int,
    epsilon: float,
    delta: float,
    achieved: float | None = None,
    among: str = "",
) -> str:
    """State in one sentence the guarantee of a rule, or with the ε ``achieved``."""
    goal = promise.early if promise.goal is Goal.EXACT and achieved else promise.goal
    if promise.fixed == "budget" or goal is Goal.NONE:
        return FIXED_BUDGET
    sure = 100 * (1 - delta)
    places = viewer_locale.places_of(sure)
    values = {
        "k": k,
        "among": among,
        "kth": ordinal(k),
        "points": count_points(epsilon if achieved is None else achieved),
        "sure": viewer_locale.format_fraction(sure, places),
        "percent": viewer_locale.format_percent(1 - delta, places),
    }
    if goal is Goal.MARK:
        values["least"] = viewer_locale.format_percent((promise.mark or 0) - float(epsilon))
        if promise.mean_share and k > 1:
            return MEAN_SHARE.format(**values, share=viewer_locale.format_percent(delta))
    if promise.average:
        return (AVERAGE if k > 1 else AVERAGE_OF_ONE).format(**values)
    measure = "" if promise.measure == "true accuracy" else f" (in {promise.measure})"
    meaning = (MEANINGS if k > 1 else MEANINGS_OF_ONE)[goal].format(**values)
    return f"With {values['percent']} certainty, {meaning}{measure}{promise.within}."


def state_early_end(
    run: Run, promise: Promise, workers: int, epsilon: float | None, among: str = ""
) -> str:
    if run.fixed_budget and epsilon is None:
        return "No guarantee: the run ended before its plan was carried out."
    if epsilon is None:
        return TOO_FEW
    achieved = state_guarantee(run, promise, workers, epsilon, among)
    if promise.goal is Goal.MARK:
        return f"The run ended before all workers were judged. {achieved}"
    exact = run.selector_class.promise.goal is Goal.EXACT
    target = "the certain best" if exact else count_points(run.epsilon)
    return f"The target ({target}) was not reached. {achieved}"
