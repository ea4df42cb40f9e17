"""What runs on GitHub: what an event asks for, measuring it, reporting it, publishing it. Works on a laptop, too.

The commands for it are in `cli/ci`.
"""
