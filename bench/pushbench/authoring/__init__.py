"""The files with which somebody measures a server of their own: drafted from answers, from a run, from conversations.

This room measures nothing and judges nothing. Each draft is for a person to read.
"""
