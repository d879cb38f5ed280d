"""JSON schemas of what the commands print for machines: ``impact.schema.json`` is that of ``annotate impact --json``."""
