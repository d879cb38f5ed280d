"""The widgets of the desk, one a file."""
