"""Read-only queries that combine several models. Nothing here writes."""

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
from .gold_health import DISAGREE, GOLD_COLUMNS, GoldLine, gold_health, gold_rows
from .guarantee_status import (
    WEAKENED,
    CurrentGuarantee,
    GuaranteeStatus,
    current_guarantee,
    interval_meaning,
    promise_status,
)
from .model_fit import ModelFit, model_fit, order_doubt
from .progress import Progress, annotate_counts, count_given, read_history, read_progress
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
    "Alert",
    "CollusionSign",
    "CollusionSigns",
    "Comparison",
    "CurrentGuarantee",
    "DumpText",
    "Explanation",
    "Exposure",
    "FullTestForecast",
    "GoldLine",
    "GuaranteeStatus",
    "ModelFit",
    "Point",
    "PopulationSummary",
    "Progress",
    "QuotaStanding",
    "RunStandings",
    "RunningForecast",
    "SkillStanding",
    "SystemLoad",
    "SystemPart",
    "Throughput",
    "Verification",
    "WorkerCard",
    "WorkerStanding",
    "annotate_counts",
    "answer_columns",
    "answer_rows",
    "answers_of",
    "celery_workers",
    "compare_runs",
    "count_exposure",
    "count_given",
    "current_guarantee",
    "describe_outcome",
    "describe_verification",
    "dump_run",
    "dump_text",
    "ended_early",
    "explain_candidate",
    "export_columns",
    "export_run",
    "export_table",
    "find_signs",
    "forecast_remaining",
    "format_duration",
    "gold_health",
    "gold_rows",
    "interval_meaning",
    "list_alerts",
    "model_fit",
    "open_assignments",
    "open_columns",
    "open_table",
    "order_doubt",
    "pool_throughput",
    "presence_of",
    "promise_status",
    "quota_lines",
    "read_history",
    "read_progress",
    "rounded_up",
    "run_facts",
    "run_standings",
    "selected_rows",
    "skill_lines",
    "summarise_forecast",
    "system_load",
    "system_parts",
    "verify_dump",
    "worker_card",
    "worker_standings",
]
