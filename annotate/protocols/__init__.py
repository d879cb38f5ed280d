"""Protocols: the codebook, its keys, its rating, its judge mappings and its scores, read from TOML.

A protocol is one file. ``load_protocol`` takes the name of a shipped one or a path; everything in the file is
checked when it is read, so that a coder never meets a key that does two things.
"""

from __future__ import annotations

from annotate.protocols.keys import RESERVED_KEYS, reserved_keys
from annotate.protocols.library import load_protocol, shipped_protocols
from annotate.protocols.parse import parse_protocol

__all__ = ["RESERVED_KEYS", "load_protocol", "parse_protocol", "reserved_keys", "shipped_protocols"]
