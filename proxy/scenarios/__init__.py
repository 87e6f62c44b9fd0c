"""Scenarios: files of steps in which faults start and end, and the effects that are expected of them.

`model.py` declares the file, and `checks.py` checks across its options. `reading.py` reads files and their parameters,
and finds those that are shipped. `play.py` plays a scenario against a gateway's admin API.
"""
