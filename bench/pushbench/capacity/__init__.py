"""Searches for the most that a server carries, from the request to the record: sweeps, probes and their answers.

Nothing is judged here. `metrics/carrying` derives the capacity from a record.
"""
