"""Tests of the store of judging sessions, on SQLite and on PostgreSQL."""
