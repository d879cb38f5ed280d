"""The commands, one a file, each imported only when it is called."""
