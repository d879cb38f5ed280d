"""The screen of the desk."""
