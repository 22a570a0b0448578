"""An evaluation of dialogues as text, tables, figures and plain data."""
