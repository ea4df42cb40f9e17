"""Numbers in, numbers out: histograms, rank tests, and the levels of a series.

Nothing here depends on records or metrics.
"""
