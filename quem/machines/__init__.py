"""Machine judges: requests, answers, and the quality of their rankings."""
