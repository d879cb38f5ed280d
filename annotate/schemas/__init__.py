"""JSON schemas of what machines read: of ``annotate impact --json``, and of a report's results.json."""
