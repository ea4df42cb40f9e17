"""How a built server is started and ended, as processes or as containers, together with its services.

Nothing is measured here.
"""
