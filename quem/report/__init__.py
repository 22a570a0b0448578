"""Renders any result: HTML, SVG, PNG, CSV and JSON. It knows no kind of study."""
