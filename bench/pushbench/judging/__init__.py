"""From a record to a verdict: limits, margins, comparisons, the history, and the sentences of all of them. Pure.

`reporting` presents the verdict.
"""
