"""Alembic's scripts, one a version of the tables."""
