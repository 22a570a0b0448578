"""The commands, one module each; slow imports happen when a command runs."""
