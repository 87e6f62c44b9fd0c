"""Scenarios: files of steps in which faults come and go, and what must have come of them.

`model.py` is what stands in a file, `checks.py` what no option alone can know, `reading.py` files, their parameters and
those that are shipped, `play.py` how one is played against a gateway's admin API.
"""
