"""TLS on sockets: beside the reactor, which does not know of it."""
