"""Systems scored on queries by measures, in one table."""
