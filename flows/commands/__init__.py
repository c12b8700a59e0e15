"""The commands of `chunklab`, one a file: `add_options` describes its options, `run` runs it and returns the status."""
