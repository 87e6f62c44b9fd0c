"""Authentication: credentials and tokens, the authority that checks them, and the proxy's own identities at brokers."""
