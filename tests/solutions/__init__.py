"""Tests of finding and inspecting solutions."""
