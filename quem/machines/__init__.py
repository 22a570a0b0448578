"""Machine judges: what they are asked, what they answered, and what their rankings are worth."""
