"""The version that studies and events carry. A constant: reading package metadata costs 20 ms while coding starts."""

from __future__ import annotations

TOOL_VERSION = "0.1.0"
