"""Labels of questions: groups that are drawn together, and parts (tags, documents) that are reported one by one.

Why: near-duplicate questions move together, so every resample draws whole groups of them.

Source: Davison and Hinkley, Bootstrap Methods and their Application (1997), section 3.8, for drawing whole clusters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def check_labels(labels: Sequence[str] | None, n_questions: int, name: str) -> None:
    """Raises ValueError unless there is one label a question, or None."""
    if labels is not None and len(labels) != n_questions:
        raise ValueError(f"{name} holds {len(labels)} labels for {n_questions} questions; expected one a question.")


def group_labels(groups: Sequence[str] | None, n_questions: int) -> list[str]:
    """The group of each question; without groups, each question is its own.

    Raises:
        ValueError: there are more or fewer labels than questions.
    """
    check_labels(groups, n_questions, "groups")
    return list(groups) if groups is not None else [str(question) for question in range(n_questions)]


def questions_by_part(parts: Sequence[Sequence[str]], n_questions: int) -> dict[str, list[int]]:
    """The questions of each part, in the order in which parts first come; `parts` holds the parts of each question.

    Raises:
        ValueError: `parts` has more or fewer entries than there are questions.
    """
    if len(parts) != n_questions:
        raise ValueError(f"parts holds {len(parts)} entries for {n_questions} questions; expected one a question.")
    questions: dict[str, list[int]] = {}
    for question, names in enumerate(parts):
        for name in dict.fromkeys(names):
            questions.setdefault(name, []).append(question)
    return questions


def sum_by_label(values: NDArray[np.float64], labels: Sequence[str]) -> NDArray[np.float64]:
    """Sums of the columns that share a label: shape (rows, labels), in the order in which labels first come."""
    positions = {label: position for position, label in enumerate(dict.fromkeys(labels))}
    sums = np.zeros((len(positions), values.shape[0]))
    np.add.at(sums, [positions[label] for label in labels], values.T)
    return sums.T


def sizes_of(labels: Sequence[str]) -> NDArray[np.float64]:
    """How many columns share each label: shape (labels,), in the order in which labels first come."""
    return sum_by_label(np.ones((1, len(labels))), labels)[0]
