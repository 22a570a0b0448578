"""Catalogs of judges' pages, and languages that are made up to find what is not translated."""
