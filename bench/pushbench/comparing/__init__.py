"""Comparisons of two arms, explanations of a difference, and bisections, from the request to the record.

Nothing is judged here; `judging` decides when to stop.
"""
