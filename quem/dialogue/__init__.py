"""Conversational CBR: simulated dialogues, and how good they are (Bogaerts & Leake 2006)."""
