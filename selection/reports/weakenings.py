"""What weakens a run's guarantee, with the remedy of each: one table, read by every surface."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Q

from selection.model_workers import spending, unreadable
from selection.models import Run
from selection.texts import count_noun
from topk.roster import OPENED

from .collusion import CollusionSigns
from .model_fit import ModelFit

MOST_NAMED = 5
# Doubts in a few words, by their codes.
DOUBTS = {
    "population": "this crowd may be of groups with very different accuracy",
    "rough": "the fit to this crowd is rough",
    "gap": "the best workers may be clearly ahead of the rest",
    "few-answers": "some workers gave fewer than two answers and are assumed to be like the others",
    "nearly-equal": "the workers are nearly equal, and a few may just lead or trail the others",
    "same-questions": "workers err on the same questions, so their answers are not independent",
    "chosen-questions": "workers may have chosen which questions they answered",
}
COPY, TAKE_BACK = ("Copy the run…", "copy"), ("Take workers back…", "do_change#roster")
TIMEOUT = ("Change the timeout…", "do_change")
OTHER_POOLS = "“Universal” holds for every crowd: copy the run and choose this algorithm."


@dataclass(frozen=True)
class Remedy:
    """What to do about a weakening.

    words    the remedy, or why there is nothing to do
    label    of the button for it; empty if there is none
    page     that the button opens: of the run, "gold", or a part of the run's own page, with #
    weakens  False if it only adds an assumption
    """

    words: str
    label: str = ""
    page: str = ""
    weakens: bool = True


# A further code needs an entry here, and a function in SOURCES that finds it.
REMEDIES = {
    "roster": Remedy("The guarantee returns when all of them take part again.", *TAKE_BACK),
    "joined": Remedy("A copy of the run begins with all workers.", *COPY),
    "left": Remedy("Take back the workers who left because of their answers.", *TAKE_BACK),
    "erased": Remedy("An erased worker cannot return; a copy of the run begins anew.", *COPY),
    "population": Remedy(OTHER_POOLS, *COPY),
    "rough": Remedy("More answers help: a copy can start from this run.", *COPY),
    "gap": Remedy(OTHER_POOLS, *COPY),
    "few-answers": Remedy(
        "Invite them again, or shorten the no-show timeout: then they are not tested.", *TIMEOUT
    ),
    "nearly-equal": Remedy(OTHER_POOLS, *COPY),
    "same-questions": Remedy("A copy can guarantee the accuracy on this question set.", *COPY),
    "chosen-questions": Remedy("Nothing to do if workers did not choose their questions."),
    "sharing": Remedy(
        "Check the signs, and withdraw workers that share answers.", "See the signs", "#signs"
    ),
    "by-hand": Remedy("A worker’s page undoes a verdict.", "See the workers", "#workers"),
    "regrade": Remedy(
        "Nothing to do if the questions were not chosen because of the answers.",
        *("Review the questions", "gold", False),
    ),
    "no-shows": Remedy(
        "The guarantee can include them: decide that before you see the answers.",
        *("Keep them in…", "do_change", False),
    ),
    "unreadable": Remedy(
        "Read the stored replies again with other settings, or set these models aside.",
        *("See the replies", "#models"),
    ),
    "minutes": Remedy("Nothing to do: answers before and after it count alike.", weakens=False),
    "outage": Remedy("Nothing to do: workers got their time back.", weakens=False),
    "replace": Remedy(
        "Nothing to do if the reason tells nothing of the other workers.", weakens=False
    ),
}
GONE_FOR_GOOD = Remedy("The run is over; a copy of it begins anew.", *COPY)
ADDED = {  # kinds of events that add an assumption
    "regrade": "gold questions were corrected or retired",
    "minutes": "the time to answer was changed",
    "outage": "the site was away for a while",
    Run.REPLACED: "selected workers were replaced",
}


@dataclass(frozen=True)
class Weakening:
    """A reason not to rely on the guarantee as it stands: in a few words, and in full."""

    code: str
    short: str
    sentence: str
    remedy: Remedy

    @classmethod
    def build(cls, run: Run, code: str, short: str, sentence: str) -> "Weakening":
        remedy = REMEDIES[code]
        while_active = (remedy.label, remedy.page) in (TAKE_BACK, TIMEOUT)
        over = run.status == Run.Status.ENDED and while_active
        return cls(code, short, sentence, GONE_FOR_GOOD if over else remedy)

    def build_row(self) -> dict[str, str]:
        remedy = self.remedy.words
        return {"code": self.code, "sentence": self.sentence, "remedy": remedy}


Found = tuple[str, str, str]  # code, short, sentence


def list_weakenings(
    run: Run, fit: ModelFit, signs: CollusionSigns, by_hand: str = "", no_shows: Sequence[str] = ()
) -> tuple[Weakening, ...]:
    """List the weakenings of the guarantee and added assumptions; mostly none.

    fit      doubts of the algorithm and of the tests of its assumptions
    signs    signs that workers share answers
    by_hand  the effect of verdicts by hand on the guarantee; empty without any
    no_shows  the workers, by id, that the guarantee leaves out at the end
    """
    rows: list[Found] = [
        *((doubt.code, DOUBTS[doubt.code], doubt) for doubt in fit.warnings),
        *(reason for source in SOURCES for reason in source(run)),
        *(() if run.selector_class.common_order else _sharing(signs)),
        *_absences(no_shows),
        ("by-hand", "verdicts were set by hand", by_hand),
    ]
    return tuple(Weakening.build(run, *reason) for reason in rows if reason[2])


def _departures(run: Run) -> Iterator[Found]:
    """Yield the workers gone after counted answers, if that loses or weakens the guarantee."""
    loss = run.guarantee_lost
    if not loss and run.selector_class.covers_leavers:
        return
    effect = (
        "no guarantee holds without them"
        if loss
        else "the guarantee assumes that the reason had nothing to do with the answers"
    )
    out = run.candidates.filter(~Q(gone=""), pulls__gt=0).order_by("worker__key")
    rows = out.values_list("worker__key", "worker__erased").distinct()
    for code, verb, erased in (
        ("roster" if loss else "left", "left or {} withdrawn", False),
        ("erased", "{} erased", True),
    ):
        keys = [key for key, moment in rows if bool(moment) == erased]
        workers = count_noun(len(keys), "worker")
        departure = f"{workers} {verb.format('was' if len(keys) == 1 else 'were')}"
        names = f" ({_join_names(keys)})"
        if keys:
            yield (
                code,
                f"{departure} during the test",
                f"{departure} after answers had counted{names}; {effect}.",
            )
    if loss and run.joined and run.events.filter(kind=OPENED, step__gt=0).exists():
        joined = "workers joined after answers had counted"
        yield "joined", joined, f"{joined.capitalize()}, and no guarantee covers that."


def _absences(no_shows: Sequence[str]) -> Iterator[Found]:
    if no_shows:
        workers, are = count_noun(len(no_shows), "worker"), "is" if len(no_shows) == 1 else "are"
        short = f"{workers} without a counted answer {are} not covered"
        yield "no-shows", f"{short} ({_join_names(no_shows)})", f"{short}."


def _join_names(keys: Sequence[str]) -> str:
    more = [f"{len(keys) - MOST_NAMED} more"] if len(keys) > MOST_NAMED else []
    return ", ".join([*(f"“{key}”" for key in keys[:MOST_NAMED]), *more])


def _added_assumptions(run: Run) -> Iterator[Found]:
    """Yield the changes during the run after which the guarantee holds under an assumption."""
    kinds = set(run.events.filter(kind__in=ADDED).values_list("kind", flat=True))
    for kind, short in ADDED.items():
        if kind in kinds:
            when = "after its end" if kind == Run.REPLACED else "during the run"
            yield kind, short, f"{short.capitalize()} {when}."


def _sharing(signs: CollusionSigns) -> Iterable[Found]:
    count = len(signs.found)
    if count:
        yield (
            "sharing",
            "workers may share answers",
            f"There {'is' if count == 1 else 'are'} {count_noun(count, 'sign')} that workers share "
            "answers, and the guarantee assumes that they do not.",
        )


def _unread_replies(run: Run) -> Iterator[Found]:
    """Yield the replies of models that gave no answer, and may count as wrong."""
    if not spending.has_models(run):
        return
    rows = [row for row in unreadable.count_replies(run) if row.warned]
    if rows:
        text = " ".join(f"“{row.worker}”: {row.advice}." for row in rows[:MOST_NAMED])
        more = count_noun(len(rows) - MOST_NAMED, "more model")
        yield (
            "unreadable",
            "replies of models could not be read",
            "Replies of models gave no answer and count as wrong, so the accuracy of these models "
            f"is that of their replies as they were read. {text}"
            + (f" {more} lost replies." if len(rows) > MOST_NAMED else ""),
        )


SOURCES = (_departures, _added_assumptions, _unread_replies)
