"""Stored documents: the record of a run with its load report, and the history of runs. Shapes, reading and writing.

`metrics` and `judging` define what the numbers mean.
"""
