"""Tests of the studies that come with quem."""
