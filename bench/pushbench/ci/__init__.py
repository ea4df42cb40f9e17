"""The integration with GitHub: planning, measuring, reporting and publishing for an event. It also works on a laptop.

`cli/ci` has its commands.
"""
