"""Stage 5, retrieve: index and questions -> one Ranking a question.

The two searches and their fusion all give rankings of positions in the list of chunks, best first. Ties go to the
earlier position, that is by (document, position). Only candidates are listed: what a search knows nothing of has none.

Each search scores all chunks before it cuts, so that a filter of chunks has its place in there: before the cut of each
leg. The fusion sees only what the legs let through.
"""
