"""Stand-ins for what cannot be had in a fast test: a generator that plays no load, and servers that misbehave."""
