"""From sources to what can be started: toolchains, builds, images, and the container engine.

Nothing is started here.
"""
