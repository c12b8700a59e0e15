"""How results are named, kept, shared and removed."""
