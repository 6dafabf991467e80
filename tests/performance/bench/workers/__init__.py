"""One module for each system and benchmark, loaded by `bench.worker` in the system's environment."""
