"""Starting and stopping a built server and its services, as processes or as containers.

This room measures nothing.
"""
