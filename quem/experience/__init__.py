"""QUEM: systems measured in years of human experience, one module a step of the method."""
