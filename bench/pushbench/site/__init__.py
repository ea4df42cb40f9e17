"""The report site's data, derived from records and a history, and the other files beside its pages.

docs/site.md describes the files. Decisions are pure functions of documents; only `building` reads and writes.
"""
