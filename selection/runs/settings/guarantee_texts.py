"""All sentences on a run's guarantee: the same on pages, in reports, in files and by the API.

They are in the viewer's locale on pages and neutral elsewhere, and otherwise equal.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from math import floor

from selection import viewer_locale
from selection.model_workers import spending
from selection.models import Run, pass_marks
from selection.runs.roster import roster_opening
from selection.texts import count_points, counted
from selection.viewer_locale import format_moment
from topk import ASSUMPTIONS, THIS_SET, Goal, Guarantee, Problem
from topk.guarantee import GUARANTEE_LOST, Numbers
from topk.selected_arms import BY_GUARANTEE

from .guarantees import GuaranteeFacts

GONE = {"absent": "never answered", "left": "left", "withdrawn": "were withdrawn"}
MOST_NAMED = 3
NOBODY_TESTED = (
    "No answer was counted: no worker is tested, no worker is selected, and nothing is guaranteed."
)
NOTHING_YET = "No guarantee yet: there are too few answers."
NOT_BEFORE_THE_STOP = "No guarantee yet: this method has one only once its rule to stop is met."
TOO_FEW = "No guarantee: there were too few answers."
STAYING = (
    "That a worker came or stayed away is assumed to have nothing to do with how good they are."
)
LIMITED = (
    "As the limit in money can end the run, prices of models are assumed to tell nothing of how "
    "good they are."
)
EXPOSED = (
    "Questions that enough workers have met are left out for the others; it is assumed that they "
    "are no easier or harder than the rest."
)
RECORDED = (
    "Some answers were recorded elsewhere; it is assumed that workers did not choose which "
    "questions they answered there."
)
BETWEEN_WORKERS = ", if different workers answer independently of each other"


class ViewerNumbers(Numbers):
    def percent(self, share: Decimal) -> str:
        return viewer_locale.format_percent(share, viewer_locale.places_of(100 * share))

    def points(self, difference: Decimal) -> str:
        return count_points(difference)


VIEWER = ViewerNumbers()


# -- the statement of an algorithm, and of a run


def word_statement(
    run: Run, statement: Guarantee, workers: int, epsilon: float | None = None
) -> str:
    """Word what is guaranteed, or would be, with the run's own ε or the one reached."""
    if statement.fixed == "budget" and (run.several or run.selector_class.several_skills):
        return "The workers that look best in each skill when the budget is spent; no guarantee."
    return statement.sentence(run.problem(workers), epsilon, VIEWER)


def word_plan(statement: Guarantee, problem: Problem, mark: float | None = None) -> str:
    """Word what a plan would guarantee.

    mark  a pass mark beside the rule
    """
    beside = None if statement.goal is Goal.MARK else mark
    marked = "" if beside is None else describe_mark(pass_marks.write_mark(beside))
    return _join([statement.sentence(problem, numbers=VIEWER), marked])


def describe_shown(mark: float, epsilon: float) -> str:
    """Word the least accuracy that is shown of the selected: the pass mark less ε."""
    written = pass_marks.write_mark(mark)
    if not epsilon:
        return written
    return f"{pass_marks.write_mark(mark - epsilon)}, the pass mark of {written} less ε"


def describe_mark(mark: str) -> str:
    return f"Only those of them who are shown to reach the pass mark of {mark} are selected."


def word_target(run: Run, facts: GuaranteeFacts) -> str:
    """Word what the run guarantees when its rule to stop is met."""
    if facts.statement is None:
        return _join([_word_missing(run, facts), _word_roster(run, facts)])
    target = word_statement(run, facts.statement, facts.workers)
    return _join([target, _word_mark(run, facts), _word_roster(run, facts)])


def word_guarantee(run: Run, facts: GuaranteeFacts) -> str:
    """Word what is guaranteed now or was at the end, with all that qualifies it."""
    if run.status == Run.Status.DRAFT:
        return word_target(run, facts)
    main = _word_missing(run, facts) if facts.missing else _word_present(run, facts)
    if facts.claims and facts.doubts:
        main = f"The guarantee is weakened. {_join(facts.doubts)} Apart from this: {main}"
    elif facts.missing == "lost":
        main = _join([main, *facts.doubts])
    return _join(
        [
            main,
            _word_mark(run, facts),
            _word_empty(run, facts),
            _word_regraded(run),
            _word_roster(run, facts),
            _word_manual(run, facts),
            *(facts.notes if facts.claims else ()),
        ]
    )


def word_assumptions(run: Run, facts: GuaranteeFacts) -> str:
    """Word what is assumed in all this."""
    statement = facts.reached or facts.statement
    if statement is None:
        return ASSUMPTIONS
    limited = any(skill.question_set.most_workers for skill in run.skills)
    return _join(
        [
            statement.assumes,
            *((statement.limits, statement.early_limits) if _goes_on(run) else ()),
            LIMITED if _may_end_by_money(run, statement) else "",
            STAYING if any(count for why, count in facts.gone.items() if why) else "",
            EXPOSED if limited else "",
            RECORDED if run.has_recorded or run.recorded_only else "",
        ]
    )


def _join(parts: Sequence[str]) -> str:
    return " ".join(filter(None, parts))


def _goes_on(run: Run) -> bool:
    return run.status in (Run.Status.RUNNING, Run.Status.PAUSED)


def _may_end_by_money(run: Run, statement: Guarantee) -> bool:
    """Tell if the money spent may end the run before its rule (prices.md of topk).

    Bounds that hold at all times do not depend on when the run ends.
    """
    always = not (statement.at_the_stop or statement.average)
    return not always and not run.by_price and spending.read_limit(run) is not None


# -- the present


def _word_present(run: Run, facts: GuaranteeFacts) -> str:
    if run.status == Run.Status.ENDED:
        return _word_end(run, facts)
    assert facts.statement is not None
    if facts.epsilon is not None:
        brief = replace(facts.statement, limits="", early_limits="")  # beside the assumptions
        now = word_statement(run, brief, facts.workers, facts.epsilon)
        at_the_end = facts.statement.at_the_stop and not run.certified
        return f"If the run ended now: {now[0].lower()}{now[1:]}" if at_the_end else now
    if facts.claims or facts.statement.fixed == "budget" or facts.statement.goal is Goal.NONE:
        return word_statement(run, facts.statement, facts.workers)
    return NOTHING_YET if facts.statement.bounds_early else NOT_BEFORE_THE_STOP


def _word_end(run: Run, facts: GuaranteeFacts) -> str:
    assert facts.statement is not None
    if run.finished or facts.selected is None:
        return word_statement(run, facts.statement, facts.workers)
    if facts.statement.goal is Goal.MARK:
        start = "The run ended before all workers were judged."
    elif run.fixed_budget:
        start = "The run ended before its plan was complete."
    elif facts.epsilon is None:
        start = TOO_FEW
    else:
        exact = facts.statement.goal is Goal.EXACT
        target = "the certain best" if exact else f"at most {count_points(run.epsilon)}"
        start = f"The target ({target}) was not reached."
    if facts.epsilon is None:
        without = ", without a guarantee" if run.fixed_budget else ""
        return f"{start} {_word_choice(run, facts, without)}"
    reached = word_statement(run, facts.reached or facts.statement, facts.workers, facts.epsilon)
    naming = "" if facts.statement.goal is Goal.MARK else _word_choice(run, facts)
    return _join([start, reached, naming])


def _word_choice(run: Run, facts: GuaranteeFacts, without: str = "") -> str:
    """Say by what the workers of an early end are selected."""
    selected, alone = facts.selected, run.total == 1
    if selected is None or selected.by != BY_GUARANTEE:
        are = "worker is" if alone else "workers are"
        return f"The selected {are} favoured by all answers{without}."
    have = "worker has" if alone else "workers have"
    return (
        f"The selected {have} the strongest guarantee, from step {run.best_guarantee['step']}. All "
        f"answers since favour {_word_favoured(facts)}, with a weaker guarantee."
    )


def _word_favoured(facts: GuaranteeFacts) -> str:
    added, dropped = facts.favoured
    if len(added) > MOST_NAMED:
        return f"{len(added)} others"
    return " instead of ".join(", ".join(f"“{key}”" for key in keys) for keys in (added, dropped))


# -- no guarantee


def _word_missing(run: Run, facts: GuaranteeFacts) -> str:
    if facts.missing == "invalid":
        return _join(facts.refusals)
    if facts.missing == "untested":
        return NOBODY_TESTED
    if facts.missing == "joining":
        return roster_opening.too_few(run)
    if facts.missing == "few":
        return _word_too_few(run, facts.workers)
    if run.status != Run.Status.ENDED:
        return GUARANTEE_LOST
    if run.finished:
        return f"{GUARANTEE_LOST} The selection follows the algorithm’s rule."
    return f"{GUARANTEE_LOST} {_word_choice(run, facts)}"


def places_needed(run: Run) -> int:
    """Count the workers that fill a selection, at least."""
    return run.total if run.several and run.one_kind_each else 1


def _word_too_few(run: Run, n: int) -> str:
    if run.enrolling:
        more = max(places_needed(run) - 1, *(skill.k for skill in run.skills))
        return f"More than {counted(more, 'worker')} must join before there is a choice."
    if run.ending == Run.Ending.ROSTER and run.several:
        return (
            f"Only {counted(n, 'worker', 'were')} left for {counted(run.total, 'place')}, too few "
            "for a choice. The workers favoured by all answers are selected, with no guarantee."
        )
    if run.ending == Run.Ending.ROSTER:
        tested = run.candidates.filter(gone="", pulls__gt=0).count()
        rest = f"the {n} selected were" if n > 1 else "the one selected was"
        if tested != n:
            rest = f"{counted(n, 'worker')}, {tested} of them tested, {'were' if n > 1 else 'was'}"
        return (
            f"Only {rest} left: there was no choice, and there is no guarantee. "
            f"The target was {counted(run.k, 'worker')}."
        )
    return f"Only {counted(n, 'worker', 'are')} left; a guarantee needs more than {run.k}."


# -- conditions


def _word_roster(run: Run, facts: GuaranteeFacts) -> str:
    gone, there = facts.gone, facts.workers
    losses = [
        f"{gone[reason]} {verb if gone[reason] > 1 else verb.replace('were ', 'was ')}"
        for reason, verb in GONE.items()
        if gone.get(reason)
    ]
    parts = []
    if losses:
        total = there + sum(gone.get(reason, 0) for reason in GONE)
        parts.append(
            f"Of the {counted(total, 'worker')} {' and '.join(losses)}: they are not tested to "
            f"the end, and neither accepted nor rejected. This is about the other {there}."
        )
    if run.enrolling:
        now = f", with {counted(there, 'worker')} now" if run.status != Run.Status.DRAFT else ""
        parts.append(
            f"The roster is open{now}. No worker is accepted or rejected before it closes; the "
            "guarantee then covers the workers on it."
        )
    return _join(parts)


def _word_mark(run: Run, facts: GuaranteeFacts) -> str:
    """Say which of the rule's selection the pass mark beside it excludes."""
    if not pass_marks.has_mark(run):
        return ""
    mark = pass_marks.format_mark(run)
    short = facts.selected.short if facts.selected else 0
    if not short:
        return describe_mark(mark)
    few = counted(run.total, "worker")
    return (
        f"This is about the {few} before the pass mark: {short} of them "
        f"{'is' if short == 1 else 'are'} not selected, as {pass_marks.SHORT} of {mark}."
    )


def _word_empty(run: Run, facts: GuaranteeFacts) -> str:
    if not facts.empty:
        return ""
    return (
        f"{facts.empty} of the {counted(run.total, 'place')} stay empty: there were no tested "
        "workers left for them."
    )


def _word_regraded(run: Run) -> str:
    if not run.regraded:
        return ""
    when = format_moment(run.regraded)
    if run.has_replaced:
        return f"Selected workers were replaced after the end ({when}); this is about the others."
    return f"Gold questions were corrected after the end ({when}); this uses the corrected keys."


def word_manual(run: Run, by_hand: tuple[int, int]) -> str:
    """Exclude verdicts by hand from what is said; empty without any."""
    clauses = [
        f"{count} {word} by hand"
        for count, word in zip(by_hand, ("accepted", "rejected"), strict=True)
        if count
    ]
    if not clauses:
        return ""
    return (
        f"{' and '.join(clauses).capitalize()}. What is guaranteed is about the "
        f"{counted(run.total, 'worker')} that the algorithm selects itself, not about verdicts by "
        "hand."
    )


def _word_manual(run: Run, facts: GuaranteeFacts) -> str:
    """Say it where no doubt has said it: in front of a guarantee, or of a loss."""
    told = facts.claims or facts.missing == "lost"
    return "" if told else word_manual(run, facts.by_hand)


# -- claims of their own at the end, beside the comparison with the best


def word_mean_floor(run: Run, selected: int, accuracy: float | None) -> str:
    """Word the least mean accuracy of the selected; empty without one."""
    if accuracy is None:
        return ""
    who = f"the {selected} selected answer" if selected > 1 else "the selected one answers"
    share = viewer_locale.format_percent(floor(100 * accuracy) / 100)
    average = f" on average{_if_independent(run)}" if selected > 1 else ""
    return f"{_with_probability(run)}, {who} at least {share}{_of_this_set(run)} right{average}."


def word_reached_mark(run: Run, reaching: int, selected: int) -> str:
    """Word how many of the selected reach the pass mark beside the rule."""
    result = f"at least {pass_marks.format_mark(run)}{_of_this_set(run)} right"
    result += _if_independent(run)
    if not selected:
        return f"Pass mark: no worker is selected who is shown to answer {result}."
    sure = _with_probability(run).replace("With", "with")
    if reaching < selected:  # others are selected by hand
        few = counted(selected, "selected worker")
        return (
            f"Pass mark: {reaching} of the {few} reach it: {sure}, each of these answers {result}."
        )
    who = f"each of the {selected} selected answers" if selected > 1 else "the selected one answers"
    return f"Pass mark: {sure}, {who} {result}."


def _with_probability(run: Run) -> str:
    percent = 100 * (1 - Decimal(f"{run.delta:.10g}"))
    places = viewer_locale.places_of(percent)
    return f"With probability at least {viewer_locale.format_percent(percent / 100, places)}"


def _of_this_set(run: Run) -> str:
    return " of this question set" if run.options.get("accuracy") == THIS_SET else ""


def _if_independent(run: Run) -> str:
    """On a question set, orders of each worker's own make evidence independent."""
    return "" if run.options.get("accuracy") == THIS_SET else BETWEEN_WORKERS
