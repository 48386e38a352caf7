"""What a run that is going on will still take, in answers, money and time."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum
from django.utils import timezone

from selection.models import Outlook, Run
from selection.runs import money

from .durations import count_noun
from .progress import Progress, count_given, read_progress

ENOUGH = 20  # answers, to speak of a speed
SHORTLY, LATELY = timedelta(hours=1), timedelta(days=1)  # the speed is that of the last hour or day
UNSEEN = "Too early to say: it is simulated within a minute or two, where a Celery worker is up."
SPANS = [
    (timedelta(minutes=10), "ten minutes"),
    (timedelta(hours=1), "an hour"),
    (timedelta(hours=3), "three hours"),
    (timedelta(hours=12), "half a day"),
    (timedelta(days=1), "a day"),
    (timedelta(days=2), "two days"),
    (timedelta(days=4), "four days"),
    (timedelta(weeks=1), "a week"),
    (timedelta(weeks=2), "two weeks"),
    (timedelta(weeks=5), "five weeks"),
]


@dataclass(frozen=True)
class FullTestForecast:
    """A test of everybody with as many questions as the worker asked most will have had.

    answers  it costs
    epsilon  how far off the best K may then be, with the run's probability; no one promises it
    """

    questions: int
    answers: int
    cost: float | None
    epsilon: float


@dataclass(frozen=True)
class RunningForecast:
    """What is still to come. Answers and money are (low, median, high): in four cases of five it
    is between low and high. They are None where too few runs were simulated for that.

    why        why nothing can be said yet; empty if something can
    answers    still to be paid, of those that are out and those that are not handed out yet
    median     the middle one of these numbers of answers, which few runs give as well
    cost       the same as ``answers`` in money; None where no price is known
    total      answers at the end, in all
    paid, committed   answers: given so far, as in the payment list; out with the crowd
    paid_cost, committed_cost   the same in money
    kept       share of the simulated runs that finish; ``finished`` of ``runs`` do
    epsilon    what holds in the middle of those that are cut short; None if none was
    time       how long it takes at the present speed, in words
    hours      the same in hours, at most; None where nothing can be said
    everybody  what testing everybody alike would cost and give; None where it is not comparable
    at         when it was simulated; None if it was not yet
    """

    why: str
    paid: int
    committed: int
    paid_cost: float | None
    committed_cost: float | None
    answers: tuple[int, int, int] | None = None
    median: int | None = None
    cost: tuple[float, float, float] | None = None
    total: tuple[int, int, int] | None = None
    kept: float | None = None
    finished: int = 0
    runs: int = 0
    epsilon: float | None = None
    time: str = ""
    hours: float | None = None
    everybody: FullTestForecast | None = None
    at: datetime | None = None


def forecast_remaining(
    run: Run, now: Progress | None = None, at: datetime | None = None
) -> RunningForecast | None:
    """None for a run that has not begun, or has ended."""
    if run.status not in (Run.Status.RUNNING, Run.Status.PAUSED):
        return None
    now = now or read_progress(run)
    paid = count_given(run)
    spent = {
        "paid": paid,
        "committed": now.out,
        "paid_cost": _cost_of(run, paid),
        "committed_cost": _cost_of(run, now.out),
    }
    made = Outlook.objects.filter(run=run).first()
    if made is None or made.why:
        current = made is not None and made.step == run.steps
        return RunningForecast(why=made.why if made and current else UNSEEN, **spent)  # type: ignore[arg-type]
    left = remaining_band(made, now.spent - now.out)
    low, median, high = left
    banded = made.has_band
    hours, time = _remaining_time(run, high if banded else None, at or timezone.now())
    return RunningForecast(
        why="",
        **spent,  # type: ignore[arg-type]
        answers=left if banded else None,
        median=median,
        cost=tuple(_cost_of(run, one) for one in left)
        if banded and run.price is not None
        else None,  # type: ignore[arg-type]
        total=(low + paid, median + paid, high + paid) if banded else None,
        kept=made.kept,
        finished=round(made.kept * made.runs),
        runs=made.runs,
        epsilon=made.epsilon,
        time=time,
        hours=hours,
        everybody=_full_test_forecast(run, made),
        at=made.at,
    )


def remaining_band(made: Outlook, closed: int) -> tuple[int, int, int]:
    """Answers still to come when so many of those asked for came or lapsed: what was forecast, less
    these."""
    low, median, high = (max(0, total - closed) for total in (made.low, made.median, made.high))
    return low, median, high


def _cost_of(run: Run, answers: int) -> float | None:
    return (
        None if run.price is None else float(money.compute_cost(answers, run.price, run.currency))
    )


def _full_test_forecast(run: Run, made: Outlook) -> FullTestForecast | None:
    if made.uniform is None:
        return None
    answers = made.most * run.candidates.filter(gone="").count()
    return FullTestForecast(made.most, answers, _cost_of(run, answers), round(made.uniform, 4))


# -- time


def _remaining_time(run: Run, left: int | None, now: datetime) -> tuple[float | None, str]:
    """Hours that so many answers take at most, and that in words; None: it is not known."""
    if run.status == Run.Status.PAUSED:
        return None, "It is paused: nothing moves until it goes on."
    if run.recorded_only:
        return None, ""
    speed = _an_hour(run, now)
    if speed is None or left is None:
        return None, "How long it takes is too early to say."
    hours = left / speed
    return round(hours, 2), describe_bound(timedelta(hours=min(hours, 10_000)))


def describe_bound(span: timedelta) -> str:
    """An honest bound: never less than it takes if the crowd goes on as it does."""
    for most, words in SPANS:
        if span <= most:
            return f"Less than {words} left at the present speed."
    return "More than five weeks left at the present speed."


def _an_hour(run: Run, now: datetime) -> float | None:
    """Answers counted an hour, of late; None where they are too few to speak of a speed."""
    began = max(filter(None, (run.started, run.called)))
    for window in (SHORTLY, LATELY):
        since = max(began, now - window)
        steps = run.history.filter(at__gte=since)
        counted: int = steps.aggregate(total=Sum("applied", default=0))["total"]
        seconds = (now - since).total_seconds()
        if counted >= ENOUGH and seconds > 0:
            return 3600 * counted / seconds
    return None


# -- in words


def summarise_forecast(run: Run, made: Outlook | None, closed: int) -> str:
    """For a line of a list: "80 – 190 answers, 4.00 – 9.50 € (40 simulations)"."""
    if made is None or made.why:
        return "too early to say"
    low, _, high = remaining_band(made, closed)
    answers = count_noun(high, "answer") if low == high else f"{low:,} – {high:,} answers"
    cost = "" if run.price is None else f", {money.format_cost_range(run, low, high)}"
    about = "" if made.has_band else "about "
    basis = f" ({count_noun(made.runs, 'simulation')})" if made.runs else ""
    return f"{about}{answers}{cost}{basis}"
