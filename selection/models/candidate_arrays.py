"""The candidates of a run as packed arrays, and the log of the candidates that changed since.

Triggers of the database write the log, so that no writer can forget it, not even a statement by
hand.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from selection.db.prepared_statements import execute_prepared

from .answers import Candidate
from .runs import Run


class CandidateArrays(models.Model):
    """The candidates of a run as an array of numpy, with a checksum (``selection.engine.packed``).

    step  the run's number of steps when it was written
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="+")
    step = models.PositiveIntegerField()
    content = models.BinaryField()

    def __str__(self) -> str:
        return f"candidates of {self.run_id} at step {self.step}"


class CandidateChange(models.Model):
    """A candidate that was added, or changed in a column that the engine reads.

    Without constraints, because every update of a candidate writes it.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="+", db_constraint=False)
    candidate = models.ForeignKey(
        Candidate, models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )

    def __str__(self) -> str:
        return f"change of {self.candidate_id} in {self.run_id}"


DERIVED = (CandidateArrays, CandidateChange)  # rebuilt from the candidates, and in no copy

# A migration that changes these calls ``drop_triggers``: they are created anew after it.
TRACKED = "worker_id, skill, arm, asked, pulls, void, rewards, verdict, skipped, gone, unaffordable"
EVENTS = {"added": "INSERT", "changed": f"UPDATE OF {TRACKED}", "deleted": "DELETE"}
NOTE = "INSERT INTO selection_candidatechange (run_id, candidate_id) VALUES (NEW.run_id, NEW.id);"
FORGET = "DELETE FROM selection_candidatearrays WHERE run_id = OLD.run_id;"
FUNCTION = f"""
CREATE OR REPLACE FUNCTION selection_note_candidate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF TG_OP = 'DELETE' THEN {FORGET} ELSE {NOTE} END IF; RETURN NULL; END $$
"""
COUNT = {
    "postgresql": "(SELECT COUNT(*) FROM pg_trigger WHERE tgenabled IN ('O', 'A') "
    "AND starts_with(tgname, 'candidate_') AND tgrelid = 'selection_candidate'::regclass)",
    "sqlite": "(SELECT COUNT(*) FROM sqlite_master "
    "WHERE type = 'trigger' AND tbl_name = 'selection_candidate')",
}


def has_triggers(database: BaseDatabaseWrapper) -> bool:
    with database.cursor() as cursor:
        cursor.execute(f"SELECT {COUNT[database.vendor]}")
        return bool(cursor.fetchone()[0] == len(EVENTS))


def read_packed(run: Run) -> bytes | None:
    """Read the stored content; None if there is none, or if the log may lack a change."""
    sql = (
        f"SELECT content, {COUNT[connection.vendor]} FROM selection_candidatearrays "  # noqa: S608
        "WHERE run_id = %s AND step <= %s"
    )
    with execute_prepared(sql, (run.pk, run.steps), binary=True, prepare=False) as cursor:
        row = cursor.fetchone()
    return row[0] if row and row[1] == len(EVENTS) else None


def restore_triggers(using: str = DEFAULT_DB_ALIAS, **_: Any) -> None:
    """Create the triggers after migrations: SQLite loses them if one copies the table.

    The arrays are out of date then. PostgreSQL stores them as they are: compressing them takes
    longer than writing them.
    """
    database = connections[using]
    table = CandidateArrays._meta.db_table
    if table not in database.introspection.table_names() or has_triggers(database):
        return
    drop_triggers(database)
    postgresql = database.vendor == "postgresql"
    with database.cursor() as cursor:
        if postgresql:
            cursor.execute(FUNCTION)
            cursor.execute(f"ALTER TABLE {table} ALTER COLUMN content SET STORAGE EXTERNAL")
        for name, event in EVENTS.items():
            head = f"CREATE TRIGGER candidate_{name} AFTER {event} ON selection_candidate"
            body = f"BEGIN {FORGET if event == 'DELETE' else NOTE} END"
            does = "EXECUTE FUNCTION selection_note_candidate()" if postgresql else body
            cursor.execute(f"{head} FOR EACH ROW {does}")
    CandidateArrays.objects.using(using)._raw_delete(using)


def drop_triggers(database: BaseDatabaseWrapper) -> None:
    postgresql = database.vendor == "postgresql"
    with database.cursor() as cursor:
        for name in EVENTS:
            of_table = " ON selection_candidate" if postgresql else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS candidate_{name}{of_table}")
        if postgresql:
            cursor.execute("DROP FUNCTION IF EXISTS selection_note_candidate()")
