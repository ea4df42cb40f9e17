"""The GitHub double of the workflows has all routes."""

from tests.ci import double_issues, double_queue, double_watch

__all__ = ["double_issues", "double_queue", "double_watch"]
