"""What a fault can do, one effect a file."""
