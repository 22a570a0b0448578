"""The page scripts that need no page."""
