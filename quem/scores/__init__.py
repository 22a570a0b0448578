"""Systems scored on queries by measures: one table with one set of statistics for every kind."""
