"""Doorkeeper must answer as Kafka's own authorizer does. A package, so that its brokers end with its last test."""
