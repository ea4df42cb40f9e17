"""What is measured: definitions and units of metrics, their values in a trial, and whether a trial is valid. Pure.

What a value is worth is for `judging`.
"""
