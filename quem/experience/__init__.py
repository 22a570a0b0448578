"""QUEM: systems measured in years of human experience, one module per step of the method."""
