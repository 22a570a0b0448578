"""Systems scored on queries: runs and judgments of files, tables of scores, and claims."""
