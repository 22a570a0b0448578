"""The QUEM method: from rankings to years of human experience, one file per step."""
