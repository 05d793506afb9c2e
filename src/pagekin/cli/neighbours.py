"""`pagekin neighbours`."""
