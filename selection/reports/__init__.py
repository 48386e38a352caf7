"""Every read that is more than a get. Nothing here writes."""

from topk import DOUBT, PopulationSummary, rounded_up

from .alerts import Need, needs
from .answers import (
    answer_columns,
    answer_rows,
    answers_of,
    open_assignments,
    open_columns,
    open_table,
    outcome,
)
from .collusion import Sign, Signs, signs
from .comparison import Comparison, compare
from .dump import Verification, dump, told, verify
from .dump_text import DumpText, dump_text
from .durations import duration
from .explain import Explanation, explain
from .exports import COLUMNS, columns, export, export_table, facts, selected
from .exposure import Exposure, exposed
from .forecast_running import Ahead, Everybody, ahead, in_short
from .gold_health import COLUMNS as GOLD_COLUMNS
from .gold_health import DISAGREE, GoldLine, gold, gold_rows
from .guarantee_status import WEAKENED, PromiseStatus, Proof, interval, promise_status, proof
from .model_fit import Fit, fit, order_doubt
from .progress import Progress, count_given, history, progress, with_counts
from .selection import ended_early
from .standings import (
    Line,
    Look,
    Quota,
    SkillLine,
    look,
    presence,
    quota_lines,
    skill_lines,
    standings,
)
from .system import Load, Part, celery_workers, load, parts
from .throughput import Pace, pace
from .worker_card import Card, Point, card

__all__ = [
    "COLUMNS",
    "DISAGREE",
    "DOUBT",
    "GOLD_COLUMNS",
    "WEAKENED",
    "Ahead",
    "Card",
    "Comparison",
    "DumpText",
    "Everybody",
    "Explanation",
    "Exposure",
    "Fit",
    "GoldLine",
    "Line",
    "Load",
    "Look",
    "Need",
    "Pace",
    "Part",
    "Point",
    "PopulationSummary",
    "Progress",
    "PromiseStatus",
    "Proof",
    "Quota",
    "Sign",
    "Signs",
    "SkillLine",
    "Verification",
    "ahead",
    "answer_columns",
    "answer_rows",
    "answers_of",
    "card",
    "celery_workers",
    "columns",
    "compare",
    "count_given",
    "dump",
    "dump_text",
    "duration",
    "ended_early",
    "explain",
    "export",
    "export_table",
    "exposed",
    "facts",
    "fit",
    "gold",
    "gold_rows",
    "history",
    "in_short",
    "interval",
    "load",
    "look",
    "needs",
    "open_assignments",
    "open_columns",
    "open_table",
    "order_doubt",
    "outcome",
    "pace",
    "parts",
    "presence",
    "progress",
    "promise_status",
    "proof",
    "quota_lines",
    "rounded_up",
    "selected",
    "signs",
    "skill_lines",
    "standings",
    "told",
    "verify",
    "with_counts",
]
