"""What every room may use: errors for people, files, YAML, git, and where things are in a checkout.

Nothing here knows what is measured.
"""
