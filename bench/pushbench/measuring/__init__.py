"""Runs and comparisons, from the request to the record: preparation, trials, rounds, progress, the live view.

Nothing is judged or shown here, but when to stop is asked of `judging`.
"""
