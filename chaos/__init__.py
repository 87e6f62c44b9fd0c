"""Faults in tests: the code that runs inside a user's own process. It imports no other package of Doorkeeper."""
