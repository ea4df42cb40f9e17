"""This machine: its CPUs, its processes and their resource use, and disturbances of a measurement.

This room does not depend on servers.
"""
