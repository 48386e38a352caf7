"""Limits on the number of workers per gold question: conflicts with a run's settings."""

from django.db.models import Q

from selection.models import QuestionSet, Run, exposure
from selection.texts import counted
from topk import THIS_SET


def validate_exposure(run: Run) -> dict[str, str]:
    """Return the conflicts of limited question sets with a run that is to begin, by field."""
    for skill in run.skills:
        most = skill.question_set.most_workers
        if most is None:
            continue
        if run.options.get("accuracy") == THIS_SET:
            return {
                "option_accuracy": f"Accuracy {THIS_SET} is about all its questions, but “{skill}” "
                f"asks none of more than {counted(most, 'worker')}: take that limit "
                "away, or choose another "
                "accuracy."
            }
        if not run.recorded_only and not exposure.count_askable(skill.question_set):
            return {
                "question_set": f"Every question of “{skill}” was met by "
                f"{counted(most, 'worker')}, and no "
                "more may: import further questions, or raise that limit."
            }
    return {}


def refuse_limit(question_set: QuestionSet, most: int | None) -> str:
    """Return the reason against this limit; empty if there is none."""
    if most is None or not question_set.pk:
        return ""
    covers = Q(question_set=question_set) | Q(further__question_set=question_set)
    begun = Run.objects.filter(covers, options__accuracy=THIS_SET)
    run = begun.filter(status__in=[Run.Status.RUNNING, Run.Status.PAUSED]).first()
    if run is None:
        return ""
    return (
        f"The run “{run}” guarantees accuracy {THIS_SET}, which is about all its questions: end it "
        "before you limit them."
    )
