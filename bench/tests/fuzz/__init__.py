"""Mutated inputs for everything that reads what others wrote: a sentence or success, never a traceback."""
