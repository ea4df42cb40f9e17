"""Runs, comparisons and searches for capacities, from the request to the record.

Preparation, trials, rounds, probes, progress and the live view are here.

Nothing is judged or shown here; `judging` decides when to stop.
"""
