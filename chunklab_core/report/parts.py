"""Caution about recall part by part: among many parts some stand out by chance, and small parts show little.

Source: Miller, Simultaneous Statistical Inference (2nd ed., 1981), section 1.1, for how many findings chance makes.
"""

from __future__ import annotations

from chunklab_core.records.survey import Breakdown

_FEW = 15  # questions in a part, below which its mean says little
_MANY = 5  # parts
_ERROR = 0.05


def caution_about_parts(breakdown: Breakdown) -> str:
    """How many parts stand out by chance, and how many are small; empty where there is nothing to say."""
    sizes = [part.n for part in breakdown.cells[0]]
    n_small = sum(n < _FEW for n in sizes)
    sentences = []
    if len(sizes) >= _MANY:
        by_chance = _ERROR * len(sizes)
        sentences.append(f"With {len(sizes)} parts, about {by_chance:.1f} of them stand out at 95 % by chance alone.")
    if n_small and len(sizes) > 1:
        sentences.append(
            f"{n_small} of {len(sizes)} parts have fewer than {_FEW} questions: read their intervals, not their means."
        )
    return " ".join(sentences)
