"""Which importers there are: the shipped ones, loaded when asked for, and plug-ins by entry point."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from annotate.importers.base import Importer, UnknownFormat
from annotate.importers.sources import head

GROUP = "annotate.importers"
_SHIPPED = (
    *("study_rows", "inspect_ai", "lm_eval", "helm", "openai_evals", "simple_evals", "promptfoo", "deepeval", "ragas"),
    *("label_studio", "argilla", "prodigy", "doccano", "potato", "hf_datasets"),
    *("ehq", "nas", "wikiprofile", "chat", "table"),
)
"""Modules with an IMPORTER each, the most particular first: the first that recognises a file gets it."""


def format_names() -> tuple[str, ...]:
    """Every format that can be imported, plug-ins last."""
    return (*_SHIPPED, *(entry.name for entry in _plug_ins()))


def get_importer(name: str) -> Importer:
    """The importer of that name; raises UnknownFormat."""
    if name in _SHIPPED:
        return _shipped(name)
    for entry in _plug_ins():
        if entry.name == name:
            return _load(entry)
    near = difflib.get_close_matches(name, format_names(), n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"Formats: {', '.join(format_names())}."
    raise UnknownFormat(f"There is no format {name!r}.", hint)


def recognise(path: Path) -> Importer:
    """The importer that knows the content of ``path``; raises UnknownFormat."""
    start = b"" if path.is_dir() else head(path)
    for importer in _all():
        if importer.recognises(path, start):
            return importer
    raise UnknownFormat(
        f"{path}: the format is not recognised.", f"Name it with --format: {', '.join(format_names())}."
    )


def _all() -> Iterator[Importer]:
    for entry in _plug_ins():
        yield _load(entry)
    for name in _SHIPPED:
        yield _shipped(name)


def _shipped(name: str) -> Importer:
    importer: Importer = import_module(f"annotate.importers.{name}").IMPORTER
    return importer


def _plug_ins() -> tuple[EntryPoint, ...]:
    return tuple(entry for entry in entry_points(group=GROUP) if entry.name not in _SHIPPED)


def _load(entry: EntryPoint) -> Importer:
    try:
        found = entry.load()
        importer = found() if isinstance(found, type) else found
    except Exception as error:
        raise UnknownFormat(
            f"The plug-in {entry.name!r} ({entry.value}) could not be loaded: {error}.", "Uninstall or repair it."
        ) from error
    if not isinstance(importer, Importer):
        raise UnknownFormat(f"The plug-in {entry.name!r} ({entry.value}) is no importer.", "See the page on plug-ins.")
    return importer
