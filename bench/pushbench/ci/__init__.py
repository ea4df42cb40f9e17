"""The integration with GitHub: planning, measuring, reporting and publishing for an event. Works on a laptop, too.

`cli/ci` has its commands.
"""
