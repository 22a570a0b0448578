"""How an analysis of option lists is shown: text, tables, figures and plain data."""
