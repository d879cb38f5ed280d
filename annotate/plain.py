"""Frozen results as plain JSON values: keys in the order of the fields, and no number that is not finite."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def plain(value: Any) -> Any:
    """Records, mappings, tuples, arrays and numpy numbers as JSON types; NaN and infinity become None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return plain(value.tolist())


def key_of(name: str) -> str:
    """A name as a JSON key: ``kappa, labels only`` becomes ``kappa_labels_only``."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
