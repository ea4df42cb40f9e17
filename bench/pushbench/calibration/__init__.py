"""How often the judge is right: injected faults, comparisons of servers with themselves, error rates.

This room decides no verdict.
"""
