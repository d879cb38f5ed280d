"""JSON schemas of what machines read: of every command's ``--json``, and of a report's results.json."""
