"""Planning of studies: a closed form, variance components from a pilot, and simulation."""
