"""Embedding models: what a name stands for, and how texts become vectors."""
