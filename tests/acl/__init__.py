"""Whether Doorkeeper answers as Kafka's own authorizer. A package, so that its brokers end with its last test."""
