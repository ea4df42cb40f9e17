"""Common helpers of every room: errors for people, files, YAML, git, and the layout of a checkout.

This room does not depend on measurements.
"""
