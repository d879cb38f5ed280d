"""Exporters: a study's labels in the forms of other tools, which can be read back by them and by annotate.

``get_exporter(name).write(units, path, protocol=…)``; ``group_rows`` makes units of a stream of rows.
"""

from __future__ import annotations

from annotate.exporters.base import Exporter, Unit, Written, group_rows
from annotate.exporters.registry import exporter_names, get_exporter

__all__ = ["Exporter", "Unit", "Written", "exporter_names", "get_exporter", "group_rows"]
