"""Every read that is more than a get. Nothing here writes."""

from topk import DOUBT, PopulationSummary, rounded_up

from .alerts import Alert, list_alerts
from .answers import (
    answer_columns,
    answer_rows,
    answers_of,
    describe_outcome,
    open_assignments,
    open_columns,
    open_table,
)
from .collusion import CollusionSign, CollusionSigns, find_signs
from .comparison import Comparison, compare_runs
from .dump import Verification, describe_verification, dump_run, verify_dump
from .dump_text import DumpText, dump_text
from .durations import format_duration
from .explain import Explanation, explain_candidate
from .exports import COLUMNS, export_columns, export_run, export_table, run_facts, selected_rows
from .exposure import Exposure, count_exposure
from .forecast_running import (
    FullTestForecast,
    RunningForecast,
    forecast_remaining,
    summarise_forecast,
)
from .gold_health import COLUMNS as GOLD_COLUMNS
from .gold_health import DISAGREE, GoldLine, gold_health, gold_rows
from .guarantee_status import (
    WEAKENED,
    CurrentGuarantee,
    GuaranteeStatus,
    current_guarantee,
    interval_meaning,
    promise_status,
)
from .model_fit import ModelFit, model_fit, order_doubt
from .progress import Progress, count_given, read_history, read_progress, with_counts
from .selection import ended_early
from .standings import (
    QuotaStanding,
    RunStandings,
    SkillStanding,
    WorkerStanding,
    presence_of,
    quota_lines,
    run_standings,
    skill_lines,
    worker_standings,
)
from .system import SystemLoad, SystemPart, celery_workers, system_load, system_parts
from .throughput import Throughput, pool_throughput
from .worker_card import Point, WorkerCard, worker_card

__all__ = [
    "COLUMNS",
    "DISAGREE",
    "DOUBT",
    "GOLD_COLUMNS",
    "WEAKENED",
    "RunningForecast",
    "WorkerCard",
    "Comparison",
    "DumpText",
    "FullTestForecast",
    "Explanation",
    "Exposure",
    "ModelFit",
    "GoldLine",
    "WorkerStanding",
    "SystemLoad",
    "RunStandings",
    "Alert",
    "Throughput",
    "SystemPart",
    "Point",
    "PopulationSummary",
    "Progress",
    "GuaranteeStatus",
    "CurrentGuarantee",
    "QuotaStanding",
    "CollusionSign",
    "CollusionSigns",
    "SkillStanding",
    "Verification",
    "forecast_remaining",
    "answer_columns",
    "answer_rows",
    "answers_of",
    "worker_card",
    "celery_workers",
    "export_columns",
    "compare_runs",
    "count_given",
    "dump_run",
    "dump_text",
    "format_duration",
    "ended_early",
    "explain_candidate",
    "export_run",
    "export_table",
    "count_exposure",
    "run_facts",
    "model_fit",
    "gold_health",
    "gold_rows",
    "read_history",
    "summarise_forecast",
    "interval_meaning",
    "system_load",
    "run_standings",
    "list_alerts",
    "open_assignments",
    "open_columns",
    "open_table",
    "order_doubt",
    "describe_outcome",
    "pool_throughput",
    "system_parts",
    "presence_of",
    "read_progress",
    "promise_status",
    "current_guarantee",
    "quota_lines",
    "rounded_up",
    "selected_rows",
    "find_signs",
    "skill_lines",
    "worker_standings",
    "describe_verification",
    "verify_dump",
    "with_counts",
]
