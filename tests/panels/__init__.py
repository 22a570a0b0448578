"""Reference panels."""
