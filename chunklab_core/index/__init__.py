"""Stage 4, index: chunks and their vectors -> the indexes that the searches read.

Two indexes over the same chunks, in the same order: words (`bm25`) and vectors (`dense`). Neither holds a parameter of
the search, so a new value of one rebuilds no index.
"""
