"""The migrations in their order. A released one is never edited: a change is a new one."""

from __future__ import annotations

from db.migrations import m001_study

__all__ = ["MIGRATIONS"]

MIGRATIONS: tuple[tuple[int, str, tuple[str, ...]], ...] = ((1, "m001_study", m001_study.STATEMENTS),)
