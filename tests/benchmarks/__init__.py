"""The table of benchmarks."""
