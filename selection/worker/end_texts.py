"""Texts at a worker's end: completion code, earnings, next steps."""

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

from django.utils.formats import number_format
from django.utils.safestring import SafeString

from selection.models import Candidate, Run
from selection.runs import money, worker_texts
from selection.runs.worker_texts import Outcome, PageFacts

from .sanitize import QuestionTexts

PROLIFIC = "https://app.prolific.com/submissions/complete"


@dataclass(frozen=True)
class EndText:
    """Texts of the last page; pay and earned are empty if the run does not state its pay.

    back  address to hand in the code, for workers from Prolific; else empty
    """

    code: str
    back: str
    after: SafeString
    pay: str
    earned: str


def end_text(candidate: Candidate, state: str, answered: int, gone: str) -> EndText:
    run = candidate.run
    facts = PageFacts.from_run(run)
    code = worker_texts.completion_code(run, _end_outcome(state, answered, gone))
    back = prolific_return_url(code) if candidate.platform == Candidate.Platform.PROLIFIC else ""
    after = QuestionTexts(True, {}).html(facts.after)
    if facts.pay is None:
        return EndText(code, back, after, pay="", earned="")
    earned = money.compute_cost(answered, facts.pay, run.currency)
    return EndText(code, back, after, _format_pay(run, facts.pay), _format_pay(run, earned))


def prolific_return_url(code: str) -> str:
    """Return the address where Prolific takes the completion code."""
    return f"{PROLIFIC}?{urlencode({'cc': code})}"


def _end_outcome(state: str, answered: int, gone: str) -> Outcome:
    """Return the outcome that selects the code; accepted and rejected workers get the same one."""
    if gone:
        return "screened"
    return "done" if state in ("done", "over") and answered else "nothing"


def _format_pay(run: Run, amount: Decimal) -> str:
    exact = amount.normalize()
    places = max(money.decimal_places(run.currency), -int(exact.as_tuple().exponent))
    return f"{number_format(exact, places)} {run.currency}".strip()
