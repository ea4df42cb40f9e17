"""Metrics: definitions and units, their values in a trial, and whether a trial is valid. Pure.

`judging` decides whether a value is good enough.
"""
