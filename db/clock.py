"""The one place that reads the clock. Times are for people: no clock orders anything in a study."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Now as ISO 8601 with milliseconds and Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
