"""Refusals of runs that ask all models the same questions in one order.

With a common order workers ahead could tell the others the next questions, and statements that
multiply evidence of several workers do not hold (same-questions.md of topk).
"""

from selection.models import Run
from selection.runs.roster import eligibility
from selection.texts import counted


def validate_common_order(run: Run) -> dict[str, str]:
    """Find the setting, by field, that does not go with a common order."""
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
