"""What is kept: the record of a run with its load report, and the history of runs. Shapes, reading and writing.

What the numbers mean is for `metrics` and `judging`.
"""
