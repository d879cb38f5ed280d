"""Importers: what people have, as rows for a study. Every record of every file is accounted for.

``prepare`` and ``prepare_recipe`` give an ImportJob whose ``rows`` stream into ``db.imports``; ``guess_table`` says
how the columns of a table could be mapped before anything is imported.
"""

from __future__ import annotations

from annotate.importers.base import Importer, ImportJob, Request, UnknownFormat
from annotate.importers.prepare import prepare, prepare_recipe
from annotate.importers.registry import format_names, get_importer, recognise
from annotate.importers.sources import SourceError
from annotate.importers.tally import Tally

__all__ = [
    "ImportJob",
    "Importer",
    "Request",
    "SourceError",
    "Tally",
    "UnknownFormat",
    "format_names",
    "get_importer",
    "prepare",
    "prepare_recipe",
    "recognise",
]
