"""Validation of a run's settings: one sentence for each invalid setting, by its field."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils import timezone

from selection import algorithms, db_clock
from selection.algorithms import ALGORITHMS
from selection.errors import Refused
from selection.model_workers import askable
from selection.models import Endpoint, QuestionSet, Run, Skill, exposure
from selection.runs.roster import eligibility, join_platforms, quotas, worker_prices
from selection.texts import counted
from selection.viewer_locale import format_figure
from topk import COMMON_ORDER_SELECTORS, LIKE_THESE, THIS_SET, ProblemError

MOST_PLANNED = 10_000  # workers that a draft is checked with, if fewer have joined
# Settings of a run that have a range, each with a value that every algorithm accepts.
HARMLESS: dict[str, Any] = {"k": 1, "epsilon": 0.1, "delta": 0.05, "budget": 10**12}


def validate_run(run: Run, workers: int) -> dict[str, str]:
    """Write a sentence for each invalid setting, by field; "pool" for a pool that is too small.

    With an open roster a pool may be too small, or empty: its size is checked on closing.
    """
    workers = expected_workers(run, workers)
    return (
        validate_common_order(run) | _validate_enrolment(run) | find_out_of_range(run, workers)
        or _validate_skill_sizes(run, workers)
        or _validate_options(run)
        or _validate_set_size(run)
        or validate_mark(run)
        or _algorithm_refusals(run, workers)
    )


def expected_workers(run: Run, workers: int) -> int:
    """Count the workers to plan with: those present, or expected to join."""
    if not run.enrolling:
        return workers
    least = max(workers, 2, *(skill.k + 1 for skill in run.skills), run.total)
    return max(least, min(run.enrol_most or 0, MOST_PLANNED))


def _validate_enrolment(run: Run) -> dict[str, str]:
    if run.enrolling and run.enrol_most is not None and run.enrol_most <= run.k:
        reason = f"The roster must hold more than the {run.k} wanted, but closes with "
        return {"enrol_most": f"{reason}{run.enrol_most}."}
    if run.enrolling and run.recorded_only:
        reason = "Nobody can join a run that asks nobody: give it a closed roster."
        return {"enrolling": reason}
    return {}


def validate_closing_time(run: Run, at: datetime | None) -> dict[str, str]:
    """Find the fault of a roster's closing time, by field: a past one closes it at once."""
    if at is not None and timezone.is_naive(at):  # the time zone would be a guess
        return {"enrol_until": "Say the time with its zone, as in 2030-12-31T18:00:00Z."}
    if not run.enrolling or at is None or at > db_clock.database_now():
        return {}
    closing = f"{timezone.localtime(at):%d %b %Y, %H:%M %Z}"
    return {"enrol_until": f"The roster cannot close at {closing}: that is over already."}


def find_out_of_range(run: Run, workers: int) -> dict[str, str]:
    faults = {"pool": _problem_refusal(Run(k=1), workers)}
    for field in HARMLESS:
        probe = Run(k=1)  # the rest is harmless, so the sentence is about this field
        setattr(probe, field, getattr(run, field))
        faults[field] = "" if faults["pool"] else _problem_refusal(probe, workers)
    return {field: reason for field, reason in faults.items() if reason}


def _validate_skill_sizes(run: Run, workers: int) -> dict[str, str]:
    """Find the fault of the first further skill with an invalid K; the core knows no names."""
    for skill in run.skills[1:]:
        if reason := _problem_refusal(Run(k=skill.k), workers):
            return {"skills": f"In the skill “{skill}”: {reason}"}
    if run.one_kind_each and run.total > workers:
        return {
            "skills": f"Together the question sets want {counted(run.total, 'worker')}, "
            "each for at most one "
            f"kind of task, but there are only {workers}."
        }
    return {}


def _problem_refusal(run: Run, workers: int) -> str:
    try:
        run.problem(workers)
    except ProblemError as error:
        return str(error)
    return ""


def _validate_options(run: Run) -> dict[str, str]:
    faults = {}
    for option in algorithms.algorithm_options(run.algorithm):
        try:
            option.check(run.options.get(option.name, option.default))
        except ProblemError:
            sentence = f"{algorithms.option_label(option.name)} must be {option.valid_values}."
            faults[f"option_{option.name}"] = sentence
    return faults


def _validate_set_size(run: Run) -> dict[str, str]:
    """Find the fault of a question set too large for a guarantee about accuracy on it."""
    size = run.effective_options().get("questions")
    most = next((o.most for o in run.selector_class.known_options if o.name == "questions"), 0)
    if size is None or size <= most:
        return {}
    reason = (
        f"Accuracy {THIS_SET} can be guaranteed for at most {counted(most, 'question')}, "
        "and this one has "
        f"{size:,}: choose {LIKE_THESE}, or a smaller set."
    )
    return {"option_accuracy": reason}


def validate_mark(run: Run) -> dict[str, str]:
    if run.pass_mark is None and run.selector_class.takes_mark:
        title = run.selector_class.title
        return {
            "pass_mark": f"{title} selects all workers at a pass mark: give one, for example 0.8."
        }
    if run.pass_mark is None or 0 < run.pass_mark < 1:
        return {}
    mark = format_figure(run.pass_mark)
    return {"pass_mark": f"The pass mark must be above 0 and below 1, but it is {mark}."}


def _algorithm_refusals(run: Run, workers: int) -> dict[str, str]:
    """Find the algorithm's own refusal, at the field that would have to change."""
    reason = _algorithm_refusal(run, workers)
    if not reason:
        return {}
    for field, value in HARMLESS.items():
        probe = copy_unsaved(run)
        setattr(probe, field, value)
        if not _algorithm_refusal(probe, workers):
            return {field: reason}
    return {"algorithm": reason}


def _algorithm_refusal(run: Run, workers: int) -> str:
    try:
        run.selector(workers=workers)
    except ProblemError as error:
        return str(error)
    return ""


def validate_stored_run(run: Run, workers: int) -> dict[str, str]:
    faults = (
        validate_run(run, workers)
        | validate_quotas(run)
        | worker_prices.validate_prices(run)
        | validate_closing_time(run, run.enrol_until)
        | join_platforms.validate_platform(run)
        | join_platforms.validate_way_back(run)
    )
    faults |= validate_skills(run, run.further.count()) | eligibility.validate_eligibility(run)
    for skill in run.skills:
        if not skill.question_set.questions.exists():
            reason = f"The question set “{skill}” is empty: import gold questions first."
            faults["question_set"] = reason
    return faults | _validate_models(run) | validate_exposure(run)


def _validate_models(run: Run) -> dict[str, str]:
    """Find the fault of a question that the models among the eligible workers cannot be asked."""
    if run.recorded_only or not Endpoint.objects.filter(worker__pool=run.pool_id).exists():
        return {}
    models = Endpoint.objects.filter(worker__in=eligibility.eligible_workers(run).order_by())
    if not models:
        return {}
    reasons = (askable.refuse_questions(skill.question_set, models) for skill in run.skills)
    reason = next(filter(None, reasons), "")
    return {"question_set": reason} if reason else {}


def validate_skills(run: Run, further: int) -> dict[str, str]:
    """Find the faults of this number of further skills for the algorithm, by field."""
    kind = run.selector_class
    if kind.several_skills and not further:
        more = "add at least one more question set."
        return {"algorithm": f"{kind.title} is for several skills: {more}"}
    if further and not kind.takes_skills:
        able = _algorithm_titles("takes_skills")
        return {"algorithm": f"{kind.title} tests one skill; {able} several."}
    if further and run.one_kind_each and not kind.matches:
        reason = f"{kind.title} may select a worker for several kinds of task; "
        return {
            "one_kind_each": f"{reason}{_algorithm_titles('matches')} select each for at most one."
        }
    if run.quotas and further:
        return {"quota_lines": "Quotas cannot be kept with several question sets; take out either."}
    return {}


def validate_team(run: Run, further: Iterable[Skill] = ()) -> dict[str, str]:
    """Find the fault, by field, of a question set that belongs to another team than the pool."""
    team = run.pool.team_id
    sets = [run.question_set, *(skill.question_set for skill in further)]
    foreign = [question_set for question_set in sets if question_set.team_id != team]
    if not foreign:
        return {}
    return {"question_set": f"The question set “{foreign[0]}” is another team's than the pool."}


def validate_name(run: Run) -> dict[str, str]:
    team = run.pool.team_id if run.pk is None else run.team_id
    if Run.objects.filter(team=team, name=run.name).exclude(pk=run.pk).exists():
        return {"name": f"There is another run of the name “{run.name}”."}
    return {}


def _algorithm_titles(ability: str) -> str:
    able = [kind.title for kind in ALGORITHMS.values() if getattr(kind, ability)]
    return f"{', '.join(able[:-1])} and {able[-1]}"


def validate_quotas(run: Run) -> dict[str, str]:
    request = run.quotas
    if not request:
        return {}
    if not run.selector_class.keeps_quotas:
        title = run.selector_class.title
        return {
            "algorithm": f"{title} cannot keep quotas; {_algorithm_titles('keeps_quotas')} can."
        }
    if not request["attribute"]:
        return {"quota_attribute": "Say which attribute the quotas are about."}
    if not request["limits"]:
        return {"quota_lines": "Say how many there may be of each value."}
    if run.enrolling:  # the workers are checked when the roster closes
        least = sum(limit[0] or 0 for limit in request["limits"].values())
        want = f"Together the quotas want at least {counted(least, 'worker')}, but K is {run.k}."
        return {"quota_lines": want} if least > run.k else {}
    workers = eligibility.eligible_workers(run)
    try:
        quotas.check_quotas(request, quotas.attribute_values(workers, request["attribute"]), run.k)
    except Refused as refusal:
        return {"quota_lines": str(refusal)}
    return {}


def validate_exposure(run: Run) -> dict[str, str]:
    """Find the conflicts of limited question sets with a run that is to begin, by field."""
    for skill in run.skills:
        most = skill.question_set.most_workers
        if most is None:
            continue
        if run.options.get("accuracy") == THIS_SET:
            return {
                "option_accuracy": f"Accuracy {THIS_SET} is about all its questions, but “{skill}” "
                f"asks each of at most {counted(most, 'worker')}: take that limit away, or choose "
                "another accuracy."
            }
        if run.selector_class.common_order:
            return {
                "question_set": f"{run.selector_class.title} asks every model each question, but "
                f"“{skill}” asks each of at most {counted(most, 'worker')}: take that limit away, "
                "or choose another algorithm."
            }
        if not run.recorded_only and not exposure.count_askable(skill.question_set):
            return {
                "question_set": f"Every question of “{skill}” was met by "
                f"{counted(most, 'worker')}, and no more may: import further questions, or raise "
                "that limit."
            }
    return {}


def refuse_limit(question_set: QuestionSet, most: int | None) -> str:
    """Find the reason against this limit; empty if there is none."""
    if most is None or not question_set.pk:
        return ""
    covers = Q(question_set=question_set) | Q(further__question_set=question_set)
    everything = Q(options__accuracy=THIS_SET) | Q(algorithm__in=COMMON_ORDER_SELECTORS)
    runs = Run.objects.filter(covers, everything)
    run = runs.filter(status__in=[Run.Status.RUNNING, Run.Status.PAUSED]).first()
    if run is None:
        return ""
    return f"The guarantee of the run “{run}” needs all questions: end it before you limit them."


def copy_unsaved(run: Run) -> Run:
    """Copy a run unstored, to try other values on."""
    fields = (*HARMLESS, "algorithm", "options", "pass_mark", "one_kind_each")
    copy = Run(**{field: getattr(run, field) for field in fields})
    if run.several:
        first = Skill(k=copy.k, question_set_id=run.question_set_id)
        copy.skills = [first, *run.skills[1:]]
    return copy


def validate_common_order(run: Run) -> dict[str, str]:
    """Find the setting, by field, that does not go with a common order of all models' questions.

    Workers ahead could tell the others the next questions, and statements that multiply evidence
    of several workers do not hold (same-questions.md of topk).
    """
    if not run.selector_class.common_order or not run.pool_id:
        return {}
    asks = f"{run.selector_class.title} asks all workers the same questions in one order"
    if run.recorded_only:
        return {"recorded_only": f"{asks}, and imported answers have another: let it ask."}
    if run.pass_mark is not None:
        alone = "and a pass mark needs an order of each worker’s own: leave it blank."
        return {"pass_mark": f"{asks}, {alone}"}
    people = eligibility.eligible_workers(run).filter(endpoint=None).count()
    reason = "the roster is open to people: close it" if run.enrolling else ""
    if people:
        reason = f"{counted(people, 'worker', 'are')} people: leave them out"
    shared = f"{asks}, so that people could share the answers. It is for models alone, and"
    return {"algorithm": f"{shared} {reason}, or choose another algorithm."} if reason else {}
