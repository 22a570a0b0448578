"""Writing and drawing reports."""
