"""Brings the tables of an older store to those of this version; Alembic runs it."""
