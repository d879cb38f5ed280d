"""Columns under any of the names that are usual for them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from annotate.importers.fit import Unfit
from annotate.importers.sources import SourceError
from annotate.recipes.transforms import strip


class Columns:
    """Reads fields from records: ``names`` maps a field to the column names that mean it, the surest first."""

    def __init__(self, source: str, names: Mapping[str, Sequence[str]], needed: Sequence[str]) -> None:
        self._source, self._names, self._needed = source, names, needed
        self._known = {name for aliases in names.values() for name in aliases}
        self._checked = False

    def check(self, data: Mapping[str, object]) -> None:
        """At the first record: refuse a file in which a needed field has no column, naming what is there instead."""
        if self._checked:
            return
        self._checked = True
        for field in self._needed:
            if not any(name in data for name in self._names[field]):
                expected = " or ".join(self._names[field])
                near = difflib.get_close_matches(field, data, n=1)
                hint = f"Did you mean to call {near[0]!r} so?" if near else f"Its columns: {', '.join(data)}."
                raise SourceError(f"{self._source}: there is no column {expected}.", hint)

    def get(self, data: Mapping[str, Any], field: str) -> Any:
        """The value of the first column that is there, else None."""
        return next((data[name] for name in self._names[field] if name in data), None)

    def text(self, data: Mapping[str, Any], field: str) -> str:
        """The stripped text; Unfit where it is missing."""
        found = strip(self.get(data, field))
        if found is None:
            raise Unfit(f"{self._names[field][0]} is missing")
        return found

    def rest(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What no field took."""
        return {name: value for name, value in data.items() if name not in self._known and value not in (None, "")}
