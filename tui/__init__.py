"""The coding desk: the Textual application in which people label, and its plain twin. Talks to db only."""

from __future__ import annotations
