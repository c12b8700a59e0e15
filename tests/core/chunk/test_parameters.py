from typing import Any

import pytest

from chunklab_core.chunk import BUILTINS, default_params, make_chunker
from chunklab_core.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("fixd", {}, "Unknown chunking strategy 'fixd'; did you mean 'fixed'? Known: fixed, recursive,"),
        (
            "fixed",
            {"chunksize": 3},
            "fixed has no parameter 'chunksize'; did you mean 'chunk_size'? Known: chunk_size,",
        ),
        ("whole_document", {"max_tokens": 3}, "whole_document has no parameter 'max_tokens'. Known: heading_path."),
        ("fixed", {"chunk_size": 64, "overlap": 64}, "fixed.overlap is 64 and fixed.chunk_size is 64"),
        ("recursive", {"chunk_size": 64, "overlap": 64}, "recursive.overlap is 64 and recursive.chunk_size is 64"),
        ("fixed", {"chunk_size": 0}, "fixed.chunk_size is 0; it must be a whole number of at least 1"),
        ("fixed", {"chunk_size": True}, "fixed.chunk_size is True"),
        ("fixed", {"chunk_size": "512"}, "fixed.chunk_size is '512'"),
        ("fixed", {"chunk_size": 512.0}, "fixed.chunk_size is 512.0"),
        ("recursive", {"overlap": -1}, "recursive.overlap is -1; it must be a whole number of at least 0"),
        ("structure", {"max_tokens": float("nan")}, "structure.max_tokens is nan"),
        ("structure", {"min_tokens": 900}, "structure.min_tokens is 900 and structure.max_tokens is 800"),
        ("structure", {"heading_path": "yes"}, "structure.heading_path is 'yes'; it must be true or false"),
        ("semantic", {"min_tokens": 1001}, "semantic.min_tokens is 1001 and semantic.max_tokens is 1000"),
        ("semantic", {"breakpoint_percentile": float("nan")}, "semantic.breakpoint_percentile is nan"),
        ("semantic", {"breakpoint_percentile": 101}, "it must be a number from 0 to 100"),
        ("semantic_no_floor", {"breakpoint_percentile": None}, "semantic_no_floor.breakpoint_percentile is None"),
        ("semantic", {"model": 3}, "semantic.model is 3; it must be the name of a model"),
    ],
)
def test_what_cannot_work_is_refused_with_the_name_of_the_key(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_chunker(name, **params)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_defaults_are_those_of_the_design() -> None:
    semantic = {
        "breakpoint_percentile": 95.0,
        "min_tokens": 200,
        "max_tokens": 1000,
        "heading_path": False,
        "model": None,
    }
    assert {name: default_params(name) for name in BUILTINS} == {
        "fixed": {"chunk_size": 512, "overlap": 64, "heading_path": False},
        "recursive": {"chunk_size": 512, "overlap": 64, "heading_path": False},
        "semantic": semantic,
        "semantic_no_floor": {**semantic, "min_tokens": 0},
        "structure": {"max_tokens": 800, "min_tokens": 0, "heading_path": True},
        "whole_document": {"heading_path": False},
    }
