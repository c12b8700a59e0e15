"""Prefect tasks: each wraps one stage of `chunklab_core.pipeline`, and adds nothing but the caching and the name."""
