"""Systems that answer with a list of options, of which one is right."""
