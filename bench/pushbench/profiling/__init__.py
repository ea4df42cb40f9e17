"""Profiles of servers: which profiler a runtime has, what profilers wrote, and what differs between two profiles.

It starts no server and judges nothing.
"""
