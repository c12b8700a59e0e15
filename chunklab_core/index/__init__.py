"""Stage 4, index: chunks and their vectors -> the indexes that the searches read.

Two indexes over the same chunks, in the same order: words (BM25 postings) and vectors. Neither holds a parameter of the
search, so a new value of one rebuilds no index. A module of this table has three functions: `index_arrays` makes the
index as named arrays, `open_index` reads it back, and `open_questions` prepares questions for the search.
"""

INDEXES = {
    "vectors": "chunklab_core.index.dense",
    "words": "chunklab_core.index.bm25",
}
