"""Machine judges: the protocol, what their rankings are worth, the audit, and tracking."""
