"""Authentication: credentials and tokens, the authority that checks them, and as whom the proxy speaks to brokers."""
