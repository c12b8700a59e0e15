import ast
from pathlib import Path

import numpy as np
import pytest

from chunklab_core.models import sentence_transformer
from chunklab_core.models.card import BUNDLED, model_card
from chunklab_core.models.embedder import Embedder, bundled_embedder
from chunklab_core.models.sentence_transformer import window_by_counting


def test_the_window_ends_before_the_first_piece_that_the_model_does_not_read() -> None:
    """The bundled model reads 256 pieces, of which two mark the beginning and the end: 254 words of one piece."""
    whole, long, accented = "word " * 254, "word " * 255, "\n" + "cafe\u0301 " * 900

    ends = bundled_embedder().window_ends([whole, long, accented, ""])

    assert ends == [len(whole), 254 * len("word "), 1 + 254 * len("cafe\u0301 "), 0]
    assert bundled_embedder().count_pieces([whole, long, long[: ends[1]], accented[: ends[2]]]) == [256, 257, 256, 256]


def test_the_encoder_depends_on_no_other_module_of_ours_but_the_errors() -> None:
    """Its code is in the digest of a model, so each module that it imports could retire every stored vector."""
    tree = ast.parse(Path(sentence_transformer.__file__).read_text(encoding="utf-8"))
    imports = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]

    assert {name for name in imports if name.startswith("chunklab_core")} == {"chunklab_core.errors"}


def test_a_window_can_be_found_by_counting_alone() -> None:
    def count(texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    assert window_by_counting("one two three", count, 2) == len("one two ")
    assert window_by_counting("one two", count, 2) == len("one two")
    assert window_by_counting("", count, 2) == 0


@pytest.mark.slow
def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    """Padding depends on the text alone, so a run that finds half of its vectors has the figures of a whole one."""
    embedder = Embedder(model_card(BUNDLED))
    texts = ["A short one.", "The gate opens at seven. " * 3, "word " * 400, "Fees are due in March."]
    together = embedder(texts)

    for text, row in zip(texts, together, strict=True):
        np.testing.assert_array_equal(embedder([text])[0], row)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    assert embedder.count_pieces([texts[0], texts[2]]) == [6, 402]
