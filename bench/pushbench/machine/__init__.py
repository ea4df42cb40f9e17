"""This machine: its CPUs, its processes and what they use, and what disturbs a measurement.

Nothing here knows a server.
"""
