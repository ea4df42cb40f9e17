"""The load: k6's needs of the machine, and running k6 until its load report is read.

`metrics` evaluates the report.
"""
