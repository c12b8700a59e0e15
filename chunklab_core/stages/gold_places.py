"""Where the gold of each question stands, as the verdict takes it.

Why here: gold is located in the room that scores, and the room that judges asks which questions share it, and which
documents. Neither room may know the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.store import Store
from chunklab_core.parse.stored import document_entries
from chunklab_core.records.questions import Question
from chunklab_core.score.places import slot_places
from chunklab_core.score.stored import unpack_places
from chunklab_core.score.wordings import wordings_of

DocumentPlace = tuple[str, int, int]
"""Id of a document, start and end in its characters."""


@dataclass(frozen=True, slots=True)
class GoldPlaces:
    """Per question, in their order.

    Attributes:
        of_slots: of each slot the place that reads most like it, the first of several; None where it stands nowhere.
        documents: ids of all documents in which any of the gold stands, in the order of the corpus; may be empty.
    """

    of_slots: tuple[tuple[DocumentPlace | None, ...], ...]
    documents: tuple[tuple[str, ...], ...]


def gold_places(
    store: Store, documents: Ref, located: Ref, questions: Sequence[Question], fuzzy_threshold: float
) -> GoldPlaces:
    """Read from what a parse node and a locate node kept."""
    doc_ids = [entry["id"] for entry in document_entries(store, documents)]
    named = ((index, doc_ids[index], there) for index, there in unpack_places(store.read(located)))
    standing = slot_places(named, wordings_of(questions, fuzzy_threshold))
    of_slots, of_questions = [], []
    for at, question in enumerate(questions):
        slots = [standing.get((at, slot), ()) for slot in range(len(question.slots))]
        nearest = [
            min(slot, key=lambda one: (one.edits, one.document, one.start, one.end), default=None) for slot in slots
        ]
        of_slots.append(tuple((doc_ids[one.document], one.start, one.end) if one else None for one in nearest))
        holding = sorted({one.document for slot in slots for one in slot})
        of_questions.append(tuple(doc_ids[document] for document in holding))
    return GoldPlaces(tuple(of_slots), tuple(of_questions))
