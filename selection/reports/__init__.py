"""Read-only queries that combine several models. Nothing here writes."""

from selection.reports.gold_health import count_exposure
from selection.reports.progress import pool_throughput
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
from .collusion import find_signs
from .dump import dump_run, dump_text
from .durations import format_duration
from .end_claims import EndClaims, claims_at_end
from .explain import explain_candidate
from .exports import export_run, run_facts, selected_rows
from .forecast_running import (
    FullTestForecast,
    RunningForecast,
    forecast_remaining,
    forecast_spending,
    summarise_forecast,
)
from .gold_health import GOLD_COLUMNS, gold_health, gold_rows
from .guarantee import RunGuarantee, current_guarantee, guarantee_of_run, interval_meaning
from .model_fit import ModelFit, model_fit, order_doubt
from .progress import Progress, annotate_counts, count_given, read_history, read_progress
from .replacement import Replacement, describe_answers, preview_replacement
from .selection import ended_early
from .standings import (
    RunStandings,
    presence_of,
    quota_lines,
    run_standings,
    skill_lines,
    worker_standings,
)
from .system import celery_workers, system_load, system_parts
from .uncounted import UNREACHED, UncountedAnswers, count_uncounted, count_uncounted_gold
from .watches import plan_watch
from .weakenings import Weakening
from .worker_card import worker_card
from .worker_columns import WorkerStanding
