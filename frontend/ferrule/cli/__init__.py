"""The command line: ``python -m ferrule``."""
