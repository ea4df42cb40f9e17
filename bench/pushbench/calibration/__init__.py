"""How often the judge is right: faults on purpose, comparisons of servers with themselves, rates of errors.

Nothing here decides a verdict.
"""
