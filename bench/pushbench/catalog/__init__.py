"""The servers and suites of a checkout, as their files declare them.

This room builds and runs nothing.
"""
