"""A study's own codebook, and saying what is missing before a number is asked for."""

from __future__ import annotations

from db.records import Protocol
from db.study import Study


def study_protocol(study: Study) -> Protocol:
    """The codebook in force, parsed from the text that the study holds."""
    from annotate.protocols import parse_protocol

    return parse_protocol(study.protocol_toml, study.protocol_name)
