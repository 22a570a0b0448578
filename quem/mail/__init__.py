"""Letters to judges and subjects: messages and the mail server."""
