"""Conversational CBR: simulated dialogues and their quality (Bogaerts & Leake 2006)."""
