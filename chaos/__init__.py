"""Faults in tests: what runs inside a user's own process. It imports nothing of ours but itself."""
