"""How many items of a result are new: known without any work, except where the stage before has still to run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from chunklab_core.cache.formats import unpack_json
from chunklab_core.cache.protocol import Ref, stage_of
from chunklab_core.cache.store import Store
from chunklab_core.embed import shelf_of, text_keys
from chunklab_core.plan.comparison import Comparison, Explained
from chunklab_core.records.documents import SourceFile
from chunklab_core.stages import all_stages
from chunklab_core.stages.chunk import chunk_keys
from chunklab_core.stages.chunk_table import ChunkTable
from chunklab_core.stages.documents import document_entries
from chunklab_core.stages.parse import parse_keys
from chunklab_core.stages.stage import Node


@dataclass(frozen=True, slots=True)
class Amount:
    """How much of a node's work is new.

    Attributes:
        new: items to make; None if that is not known before the stage before has run.
        of: items in all; None likewise.
        unit: what the items are.
        about: the numbers come from an earlier run, or change if a document turns out to be unreadable.
    """

    new: int | None
    of: int | None
    unit: str
    about: bool = False


class Counts:
    """Counts the items of a node that the store does not have."""

    def __init__(
        self,
        store: Store,
        work: Sequence[Node],
        missing: Collection[Ref],
        comparison: Comparison,
        refresh: Collection[str],
    ) -> None:
        self._store, self._missing, self._comparison, self._refresh = store, missing, comparison, refresh
        self._nodes = {node.ref: node for node in work}
        self._explained: Mapping[Ref, Explained] = {node["ref"]: node for node in comparison.now["nodes"]}
        self._counts: Mapping[str, Callable[[Node], Amount]] = {
            "parse": self._documents,
            "chunk": self._chunked_documents,
            "embed": self._texts,
        }

    def amount(self, node: Node) -> Amount | None:
        """How much of a node's work is new; None for a stage without items, or where its input is damaged."""
        count = self._counts.get(node.stage)
        try:
            return count(node) if count else None
        except KeyError:
            return None

    def _documents(self, node: Node) -> Amount:
        return self._of_keys(node.stage, "parse", [key for _, key in self._files(node)])

    def _chunked_documents(self, node: Node) -> Amount:
        documents = Ref(node.arguments["documents"])
        about = documents in self._missing
        if about:  # some may turn out to be unreadable
            doc_ids, parsed = zip(*self._files(self._nodes[documents]), strict=True)
        else:
            doc_ids = tuple(entry["id"] for entry in document_entries(self._store, documents))
            parsed = self._store.items_of(documents)
        keys = chunk_keys(doc_ids, parsed, node.arguments["strategy"], node.arguments["target"])
        return self._of_keys(node.stage, "chunk", keys, about)

    def _texts(self, node: Node) -> Amount:
        source = Ref(node.arguments["texts"])
        if source in self._missing:
            return self._guessed_texts(node, source)
        are_queries = stage_of(source) == "queries"
        texts = unpack_json(self._store.read(source)) if are_queries else ChunkTable(self._store, source).texts()
        keys = text_keys([node.arguments["prompt"] + text for text in texts])
        return self._of_keys(node.stage, shelf_of(node.arguments["model"]["digest"]), keys)

    def _guessed_texts(self, node: Node, chunks: Ref) -> Amount:
        """The texts of the earlier run, less the share of documents whose chunks the store has."""
        earlier = self._comparison.counterpart(self._explained[node.ref])
        documents = self._chunked_documents(self._nodes[chunks])
        try:
            n_texts = len(set(self._store.items_of(earlier["ref"]))) if earlier else None
        except KeyError:
            n_texts = None
        if n_texts is None or not documents.of or documents.new is None:
            return Amount(None, None, all_stages()[node.stage].items)
        return Amount(-(-n_texts * documents.new // documents.of), n_texts, all_stages()[node.stage].items, about=True)

    def _files(self, node: Node) -> list[tuple[str, bytes]]:
        """The name of each file of a folder, and the key of its document."""
        files = [SourceFile(**file) for file in unpack_json(self._store.read(Ref(node.arguments["corpus"])))]
        keys = parse_keys(files, node.arguments["pdf"])
        return [(file.doc_id, key) for file, key in zip(files, keys, strict=True)]

    def _of_keys(self, stage: str, shelf: str, keys: Sequence[bytes], about: bool = False) -> Amount:
        n_keys = len(set(keys))
        n_new = n_keys if stage in self._refresh else len(self._store.missing_items(shelf, keys))
        return Amount(n_new, n_keys, all_stages()[stage].items, about)
