"""What a judging session stores: judges' links, rankings with their history, an audit trail.

SQLAlchemy 2 over SQLite (beside the study file) or PostgreSQL. Neither pandas nor NumPy nor
Flask are known here, so that the judging server stays small. Importing this package loads
nothing: `quem analyze` asks `quem.store.database` first whether there is a store at all.
"""
