"""The bytes of stored results: JSON, and arrays of plain numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack_json(value: Any) -> bytes:
    """A value of plain JSON types as bytes, the same bytes for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def unpack_json(payload: bytes) -> Any:
    """The inverse of `pack_json`."""
    return json.loads(payload)


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Named arrays of plain numbers as bytes: a line of JSON with names, types and shapes, then the numbers.

    Not the npz format: its reader builds a syntax tree, and Python 3.11 fails where several threads do that at once.
    """
    head = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    odd = [name for name, array in arrays.items() if array.dtype.kind not in "biuf"]
    if odd:
        raise ValueError(f"pack_arrays: {odd[0]} holds {arrays[odd[0]].dtype}; expected plain numbers.")
    return b"".join([pack_json(head), b"\n", *(np.ascontiguousarray(array).tobytes() for array in arrays.values())])


def unpack_arrays(payload: bytes) -> dict[str, NDArray[Any]]:
    """The inverse of `pack_arrays`."""
    start = payload.index(b"\n") + 1
    arrays = {}
    for name, kind, shape in json.loads(payload[:start]):
        dtype, count = np.dtype(kind), math.prod(shape)
        arrays[name] = np.frombuffer(payload, dtype, count, start).reshape(shape).copy()
        start += count * dtype.itemsize
    return arrays


def array_of_text(text: str) -> NDArray[np.uint8]:
    """A text as an array among others; the inverse is `text_of_array`."""
    return np.frombuffer(text.encode(), dtype=np.uint8)


def text_of_array(array: NDArray[np.uint8]) -> str:
    """The inverse of `array_of_text`."""
    return array.tobytes().decode()
