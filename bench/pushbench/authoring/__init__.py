"""The files that users need to measure servers of their own: drafted from answers, a run, or conversations.

This room measures nothing and judges nothing. Each draft is for a person to review.
"""
