"""TLS on sockets. The reactor does not know of it."""
