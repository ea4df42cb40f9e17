"""Stand-ins for what a fast test cannot use: a generator that plays no load, and servers that misbehave."""
