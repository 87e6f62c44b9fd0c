"""SASL, as far as it needs no password file and no clock.

* `authority.py` the proxy decides: what may come when. What it decides by is in `proxy/auth`.
* `observed.py` the broker decides: who a client is, told from the tokens that pass.
* `plain.py`, `scram.py`, `bearer.py`, `jwt.py`, `name.py` what a client says of itself, read as narrowly as its
  mechanism defines it, by one parser for each.


# Where a broker decides, it must find the same name in the same bytes. So what two readers could read in two ways is
# refused: what is there twice, out of order, or odd in any way.
# A parser gives what it read, or raises a ClaimError that says why not, with nothing of what the client sent.
# Nothing costly is done with what a client sends before its length is known to be sensible.
"""
