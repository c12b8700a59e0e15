"""Fingerprints of code, kept from one run to the next.

Why: to work them out, every module is parsed, which takes longer than all else in a run in which nothing changed. They
depend on nothing but the core's files and on Python, so they are kept under the digest of these, and a changed file
finds none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

from chunklab_core.cache.formats import pack_json, unpack_json
from chunklab_core.cache.keys import sources_of_package, worked_out
from chunklab_core.cache.protocol import Ref
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError


@contextmanager
def code_remembered(store: Store) -> Iterator[None]:
    """While it lasts, fingerprints are those that the store has for these sources; at its end, new ones are kept."""
    known, ref = worked_out(), code_ref()
    if not known:
        with suppress(KeyError):
            known.update(unpack_json(store.read(ref)))
    n_before = len(known)
    yield
    if len(known) > n_before and sources_of_package() == _sources_at_first():  # not edited while they were worked out
        with suppress(ConfigError):  # they will be worked out again, which is no reason to end
            store.write(ref, pack_json(known))


def code_ref() -> Ref:
    """Under which name the fingerprints of this process's code are kept."""
    return Ref(f"code/{_sources_at_first()}")


@cache
def _sources_at_first() -> str:
    """Of this process: its modules do not change under way, and its fingerprints are worked out once."""
    return sources_of_package()
