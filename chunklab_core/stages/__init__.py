"""One file for each stage: it reads the store, calls its room and writes the result."""
