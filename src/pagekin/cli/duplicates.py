"""`pagekin duplicates`."""
