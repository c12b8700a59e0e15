"""Prefect tasks. Each calls one function of `chunklab_core` and adds only its name and its caching."""
