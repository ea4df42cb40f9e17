"""The load: what k6 needs of the machine, and k6 at work until its load report is read.

What the report amounts to is for `metrics`.
"""
