"""Tests of plans: formulas, components, designs, and the whole."""
