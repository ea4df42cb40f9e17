"""The protocol `presence-http`: a POST of anything to /presence."""
