"""Numbers in, numbers out: histograms, rank tests, and the levels of a series.

Nothing here knows a record or a metric.
"""
