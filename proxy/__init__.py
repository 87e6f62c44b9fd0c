"""Doorkeeper: an intercepting proxy for the Apache Kafka protocol."""
