"""Who is who: credentials and tokens, and the authority that judges by them."""
