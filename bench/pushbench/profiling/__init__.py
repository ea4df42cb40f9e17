"""Profiles of servers: the profiler for each runtime, the profilers' output, and the difference of two profiles.

It starts no server and judges nothing.
"""
