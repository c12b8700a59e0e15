"""Embedding models: the files behind a name, and how texts become vectors."""
