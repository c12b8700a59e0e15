"""Stage 5, retrieve: index and questions -> one Ranking a question.

The two searches and their fusion all return rankings of positions in the list of chunks, best first. Ties are decided
by the earlier position, that is by (document, position). Only candidates are listed: a chunk without a score is left
out.

Each search scores all chunks before its cut, so a filter of chunks belongs there: before the cut of each leg. The
fusion sees only the rankings of the legs.
"""
