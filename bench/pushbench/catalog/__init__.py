"""What can be measured: the servers and suites of a checkout, as their files declare them.

Nothing is built or run here.
"""
