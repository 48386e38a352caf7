"""Texts at a worker's end: completion code, earnings, next steps."""

from django.utils.translation import gettext as _

from selection.facts import Facts
from selection.models import Candidate, Platform
from selection.questions.sanitize import QuestionTexts
from selection.runs import money, worker_texts
from selection.runs.roster import join_platforms
from selection.runs.roster.join_platforms import Visit
from selection.runs.worker_texts import Outcome, PageFacts


def end_text(candidate: Candidate, state: str, answered: int, gone: str) -> Facts:
    run = candidate.run
    facts = PageFacts.from_run(run)
    outcome = _end_outcome(state, answered, gone)
    code = worker_texts.completion_code(run, outcome)
    visit = Visit.from_candidate(candidate)
    back = join_platforms.return_address(run, visit, code, done=outcome == "done")
    label = return_label(candidate.platform)
    after = QuestionTexts(True, {}).html(facts.after)
    pay = earned = ""  # of a run that does not state its pay
    if facts.pay is not None:
        pay = money.format_amount(facts.pay, run.currency)
        earned = money.format_amount(
            money.compute_cost(answered, facts.pay, run.currency), run.currency
        )
    return Facts(code=code, back=back, back_label=label, after=after, pay=pay, earned=earned)


def return_label(platform: str) -> str:
    if not platform:
        return ""
    if platform == Platform.CUSTOM:
        return _("Go back to the platform")
    return _("Go back to %(platform)s") % {"platform": Platform(platform).label}


def _end_outcome(state: str, answered: int, gone: str) -> Outcome:
    """Choose the outcome that selects the code; accepted and rejected workers get the same one."""
    if gone:
        return "screened"
    return "done" if state in ("done", "over") and answered else "nothing"
