"""The benchmarks that tests can run in little time."""
