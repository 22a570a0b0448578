"""Letters to judges and subjects: a mail server, messages, and the queue that is worked off."""
