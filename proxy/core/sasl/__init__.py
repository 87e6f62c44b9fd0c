"""SASL, as far as it needs no password file and no clock.

* `authority.py` the proxy decides: which frame may come when. The credentials are in `proxy/auth`.
* `observed.py` the broker decides: who a client is, told from the tokens that pass.
* `plain.py`, `scram.py`, `bearer.py`, `jwt.py`, `gssapi.py`, `name.py` the tokens of clients, read as narrowly as each
  mechanism defines them, by one parser for each.


Rules:
* If the broker decides, it must find the same name in the same bytes. So a token that two readers could read in two
  ways is refused: with anything twice, out of order, or odd.
* A parser returns what it read, or raises a ClaimError that says why not, without any text that the client sent.
* The length of a client's token is checked before anything costly is done with it.
"""
