"""What a worker has of it: the code to hand in, what they earned, what happens next."""

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
    """pay and earned are empty where nothing is said about pay.

    back  address where the code is handed in, for whoever came from Prolific; else empty
    """

    code: str
    back: str
    after: SafeString
    pay: str
    earned: str


def end_text(own: Candidate, state: str, answered: int, gone: str) -> EndText:
    run = own.run
    facts, code = (
        PageFacts.from_run(run),
        worker_texts.completion_code(run, _end_outcome(state, answered, gone)),
    )
    prolific = own.platform == Candidate.Platform.PROLIFIC
    return EndText(
        code=code,
        back=prolific_return_url(code) if prolific else "",
        after=QuestionTexts(True, {}).html(facts.after),
        pay="" if facts.pay is None else _format_pay(run, facts.pay),
        earned=""
        if facts.pay is None
        else _format_pay(run, money.compute_cost(answered, facts.pay, run.currency)),
    )


def prolific_return_url(code: str) -> str:
    """Where a code is handed in there."""
    return f"{PROLIFIC}?{urlencode({'cc': code})}"


def _end_outcome(state: str, answered: int, gone: str) -> Outcome:
    """Why there are no more questions is not told: accepted and rejected end alike."""
    if gone:
        return "screened"
    return "done" if state in ("done", "over") and answered else "nothing"


def _format_pay(run: Run, amount: Decimal) -> str:
    exact = amount.normalize()
    places = max(money.decimal_places(run.currency), -int(exact.as_tuple().exponent))
    return f"{number_format(exact, places)} {run.currency}".strip()
