"""What needs brokers that want to know who their clients are. A package, so that they end with its last test."""
