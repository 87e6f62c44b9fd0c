"""Hostile clients, brokers and surroundings, each tried against a real `doorkeeper run` with a canary beside it.

    python -m tests.hostile [--long] [-k WORDS]      # the report: a table in Markdown, one line a case
    pytest tests/hostile [-m "long or not long"]     # the same cases as tests

A case is one function, declared with `@case`; a module is one class of attacks. `trial.py` says what must hold.
"""
