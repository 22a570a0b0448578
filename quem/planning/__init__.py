"""How large a study has to be: a closed form, components from a pilot, and simulation."""
