"""A record and its verdict for readers: terminal, tables, Markdown, the comment of a pull request, exports. Pure.

This room judges nothing.
"""
