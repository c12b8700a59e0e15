"""The quality of chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from chunklab_core.records.marks import Amount, Count, Name, Reasons, Share, Undefined

NO_MODEL = "none"
"""Stands for the model in the health of chunks that no model reads."""


@dataclass(frozen=True, slots=True)
class Health:
    """The quality of a strategy's chunks before any retrieval. Shares are fractions in [0, 1].

    `pct_oversized` has one entry per embedding model (`NO_MODEL` where no model is used);
    `tables_intact` is None where the corpus holds no table.
    """

    strategy: Name
    n_chunks: Count
    median_tokens: Annotated[Amount | None, Undefined("no_chunks")]
    pct_tiny: Annotated[Share | None, Undefined("no_chunks")]
    pct_oversized: Annotated[Mapping[str, Share | None], Undefined("no_chunks")]
    boundary: Annotated[Share | None, Undefined("no_chunks")]
    tables_intact: Annotated[Share | None, Undefined("no_tables")]
    lost_characters: Count
    path_shortened: Count = 0
    undefined: ClassVar[Reasons]
