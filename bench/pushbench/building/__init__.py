"""From sources to runnable builds: toolchains, builds, images, and the container engine.

This room starts no server.
"""
