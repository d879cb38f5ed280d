"""Reports: one results object drawn for the terminal, as Markdown and as HTML."""
