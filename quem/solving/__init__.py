"""From what subjects answered in their browsers to the solutions and subjects of a study."""
