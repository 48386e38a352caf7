"""``manage.py plan``: the cost of a run and its chance to end, before any worker is paid."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandParser

from selection import exports, forecast
from selection.errors import Refused
from selection.forecast import Belief, Forecast, Plan, ReachableEpsilon
from selection.management.lookups import report_refusals
from selection.models import Run
from selection.replays import crowd
from selection.runs import money
from selection.texts import counted

SHOWN = "{:<37} {:>24} {:>24}  {}"


class Command(BaseCommand):
    help = "Say what a run would cost with each algorithm, and whether it can end."

    def add_arguments(self, parser: CommandParser) -> None:
        add = parser.add_argument
        add("--workers", type=int, required=True, metavar="N", help="how many there are")
        add("--k", type=int, required=True, help="how many to select")
        add("--epsilon", type=float, default=0.1, metavar="E", help="how far off (default: 0.1)")
        add("--delta", type=float, default=0.05, metavar="D", help="how often (default: 0.05)")
        add("--questions", type=int, required=True, metavar="Q", help="how many gold questions")
        met = "N of the workers met Q of the questions before, and are not asked them again"
        more = f"{met}; may be given again for others"
        add("--met", action="append", default=[], metavar="Q:N", help=more)
        add("--price", type=float, metavar="P", help="what an answer costs, in any currency")
        most = parser.add_mutually_exclusive_group()
        most.add_argument("--budget", type=int, metavar="B", help="most answers to pay for")
        reach = "say which epsilon so much money reaches"
        most.add_argument("--spend", type=float, metavar="M", help=reach)
        goal = "good as a group, every single one good, exactly the best, or all at the mark"
        add(
            "--goal", choices=list(forecast.GOALS), default="group", help=f"{goal} (default: group)"
        )
        enough = "the pass mark of the goal “mark”"
        add("--mark", type=float, metavar="A", help=enough)
        believe = parser.add_mutually_exclusive_group()
        believe.add_argument("--believe", metavar="0.6-0.9", help="how accurate most workers are")
        believe.add_argument("--learn", metavar="RUN", help="they are like those of this run")
        alike = "they are like those of this file"
        believe.add_argument("--answers", type=Path, metavar="CSV", help=alike)
        add("--gold", type=Path, metavar="CSV", help="the known answers to --answers")
        seconds = (
            "processor time to take, about, and up to three times as much until the recommended "
            "algorithm has 20 simulations (default: 10)"
        )
        add("--seconds", type=float, default=10.0, metavar="S", help=seconds)
        add("--json", action="store_true", help="as a list for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        with report_refusals():
            belief, plan, spend = _build_belief(options), _build_plan(options), options["spend"]
            refine: Any = forecast.refine_forecasts if spend is None else forecast.search_reachable
            *_, rows = refine(plan, belief, options["seconds"])
            if options["json"]:
                self.stdout.write(exports.json_text([asdict(row) for row in rows]))
            else:
                lines = (
                    _forecast_lines(rows, plan)
                    if spend is None
                    else _reach_lines(rows, plan, spend)
                )
                self.stdout.write("\n".join([belief.words, *lines]))


# -- the request


def _build_plan(options: dict[str, Any]) -> Plan:
    if not 0 < options["seconds"] <= 86400:
        raise Refused(f"--seconds must be above 0 and at most a day, not {options['seconds']:g}.")
    budget = options["budget"] if options["spend"] is None else _affordable_answers(options)
    fields = ("workers", "k", "epsilon", "delta", "questions", "price", "goal", "mark")
    met = tuple(_parse_met(text) for text in options["met"])
    return Plan(budget=budget, met=met, **{field: options[field] for field in fields})


def _parse_met(text: str) -> tuple[int, int]:
    questions, _, workers = text.partition(":")
    if not (questions.isdecimal() and workers.isdecimal()):
        raise Refused(f"--met is QUESTIONS:WORKERS, such as 20:30, not “{text}”.")
    return int(questions), int(workers)


def _affordable_answers(options: dict[str, Any]) -> int:
    spend, price = options["spend"], options["price"]
    if not price or not 0 < price < float("inf"):
        raise Refused("--spend needs --price, what an answer costs, above 0.")
    if not price <= spend < float("inf"):
        raise Refused(f"{spend:g} does not pay for one answer at {price:g}.")
    return int(spend / price + 1e-9)


def _build_belief(options: dict[str, Any]) -> Belief:
    if (options["answers"] is None) != (options["gold"] is None):
        raise Refused("--answers and --gold go together: past answers, and which were right.")
    if options["believe"] is not None:
        return forecast.RangeBelief.read(options["believe"])
    if options["learn"] is not None:
        return forecast.belief_from_named_run(options["learn"], Run.objects.all())
    if options["answers"] is not None:
        recorded = crowd.read_crowd(options["answers"], options["gold"])
        tallies = ((sum(grades), len(grades)) for grades in recorded.right.values())
        return forecast.past_belief(options["answers"].name, tallies)
    return forecast.DefaultBelief()


# -- the reply


def _forecast_lines(rows: list[Forecast], plan: Plan) -> list[str]:
    best = rows[0]
    return [
        "",
        SHOWN.format("", "answers", "" if plan.price is None else "cost", "").rstrip(),
        *map(_format_row, rows),
        "",
        f"Recommended: {best.title} (--algorithm {best.algorithm}). {best.why}",
        best.promise,
        "",
        "Why, of each:",
        *(f"- {row.title}: {row.why}" for row in rows),
        "",
        "Four runs of five lie between the first number and the last; the middle one is as likely "
        "too low as too high. Fewer than 20 simulations make no such band.",
    ]


def _format_row(row: Forecast) -> str:
    if row.median is None:
        return f"{row.title:<37} cannot be simulated"
    answers = " – ".join(f"{count:,}" for count in row.answers or []) or f"about {row.median:,}"
    cost = " – ".join(money.format_number(amount, "") for amount in row.cost or [])
    mark = "recommended, " if row.recommended else ""
    ends = f"too few simulations yet ({row.runs})" if row.few else row.ends
    return SHOWN.format(row.title, answers, cost, mark + ends)


def _reach_lines(rows: list[ReachableEpsilon], plan: Plan, spend: float) -> list[str]:
    return [
        f"{spend:g} pays for {counted(plan.budget or 0, 'answer')} at {plan.price:g}.",
        "In at least 16 of 20 simulations, this money reaches:",
        "",
        *(f"{_format_epsilon(row):<12} {row.title}: {row.promise}" for row in rows),
    ]


def _format_epsilon(row: ReachableEpsilon) -> str:
    mark = " *" if row.recommended and row.epsilon else ""
    return "nothing" if row.epsilon is None else f"ε = {row.epsilon:g}{mark}"
