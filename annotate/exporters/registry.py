"""Which exporters there are: the shipped ones, and plug-ins by entry point ``annotate.exporters``."""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from annotate.exporters.base import Exporter
from db.errors import AnnotateError

GROUP = "annotate.exporters"
_SHIPPED = ("study_rows", "label_studio", "prodigy", "doccano", "argilla")


def exporter_names() -> tuple[str, ...]:
    """Every form that labels can be written in, plug-ins last."""
    return (*_SHIPPED, *(entry.name for entry in _plug_ins()))


def get_exporter(name: str) -> Exporter:
    """The exporter of that name; raises AnnotateError."""
    if name in _SHIPPED:
        shipped: Exporter = import_module(f"annotate.exporters.{name}").EXPORTER
        return shipped
    for entry in _plug_ins():
        if entry.name == name:
            return _load(entry)
    near = difflib.get_close_matches(name, exporter_names(), n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Forms: {', '.join(exporter_names())}."
    raise AnnotateError(f"There is no export in the form {name!r}.", hint)


def _load(entry: EntryPoint) -> Exporter:
    try:
        found = entry.load()
        exporter = found() if isinstance(found, type) else found
    except Exception as error:
        message = f"The plug-in {entry.name!r} ({entry.value}) could not be loaded: {error}."
        raise AnnotateError(message, "Uninstall or repair it.") from error
    if not isinstance(exporter, Exporter):
        raise AnnotateError(f"The plug-in {entry.name!r} ({entry.value}) is no exporter.", "See the page on plug-ins.")
    return exporter


def _plug_ins() -> tuple[EntryPoint, ...]:
    return tuple(entry for entry in entry_points(group=GROUP) if entry.name not in _SHIPPED)
