"""Tests of quem.leaderboard."""
