"""Studies out of folders, tables, and logs of other programs."""
