"""How real clients see the shipped incidents (`chaos/scenarios`)."""
