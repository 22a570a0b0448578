"""Alembic migrations from older stores to this version."""
