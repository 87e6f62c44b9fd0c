"""Tests with brokers that require authentication. A package, so that the brokers end with its last test."""
