"""Mutated inputs for every reader of files by others: an error message or success, never a traceback."""
