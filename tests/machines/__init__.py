"""Machine judges: the protocol, what their rankings are worth, and tracking."""
