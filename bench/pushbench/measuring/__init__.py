"""Runs and their trials, from the request to the record: preparation, verification, load, outages, repeats.

Nothing is judged or shown here.
"""
