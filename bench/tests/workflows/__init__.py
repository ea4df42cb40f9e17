"""The workflows ask a GitHub that knows all routes."""

from tests.ci import double_issues, double_queue, double_watch

__all__ = ["double_issues", "double_queue", "double_watch"]
