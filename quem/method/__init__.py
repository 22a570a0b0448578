"""The QUEM method: from rankings to years of human experience, one module per step."""
