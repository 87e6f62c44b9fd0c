"""What a fault can do: one module for each effect."""
