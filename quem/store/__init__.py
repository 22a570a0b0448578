"""The store of a judging session: links, rankings with their history, and the audit trail.

SQLAlchemy 2 over SQLite (beside the study file) or PostgreSQL. The package imports neither pandas
nor NumPy nor Flask, so that the judging server stays small. Importing it loads nothing: `quem
analyze` first asks `quem.store.location` whether there is a store.
"""
