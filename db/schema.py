"""Bringing a study file to the present version, in one transaction, whoever else opens it at the same time."""

from __future__ import annotations

from db.clock import utc_now
from db.connection import APPLICATION_ID, LATEST, StudyConnection, writing
from db.version import TOOL_VERSION


def version_of(connection: StudyConnection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: StudyConnection, target: int = LATEST) -> int:
    """Apply the missing migrations and return how many they were. An existing study is backed up before."""
    if version_of(connection) >= target:
        return 0
    with writing(connection):
        done = version_of(connection)  # another process may have been faster
        if 0 < done < target:
            _back_up(connection, done)
        return _apply(connection, done, target)


def _apply(connection: StudyConnection, done: int, target: int) -> int:
    from sqlite_utils import Database

    from db.migrations import MIGRATIONS

    database = Database(connection, execute_plugins=False)
    steps = [step for step in MIGRATIONS if done < step[0] <= target]
    for number, name, statements in steps:
        for statement in statements:
            database.execute(statement)
        database.table("migrations").insert(
            {"number": number, "name": name, "applied_utc": utc_now(), "tool_version": TOOL_VERSION}
        )
    if steps:
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {steps[-1][0]}")
    return len(steps)


def _back_up(connection: StudyConnection, version: int) -> None:
    from db.backups import back_up

    back_up(connection.path, label=f"before-migration-{version}")
