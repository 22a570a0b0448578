"""Subjects' answers from their browsers, turned into solutions and subjects of a study."""
