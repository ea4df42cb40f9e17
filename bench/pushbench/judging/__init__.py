"""From a record to a verdict: limits, margins, comparisons, the history, and sentences about them. Pure.

How a verdict looks is for `reporting`.
"""
