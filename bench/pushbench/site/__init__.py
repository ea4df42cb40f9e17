"""The report site's data, derived from records and a history, and everything else that stands beside its pages.

docs/site.md describes the files. A decision is a pure function of documents; `building` alone reads and writes.
"""
