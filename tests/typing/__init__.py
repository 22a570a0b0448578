"""Types of the public interface."""
