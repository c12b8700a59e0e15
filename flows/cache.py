"""The command `chunklab cache`: what the cache holds, whether it is whole, and what can go."""

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from chunklab_core.cache.fallback import default_cache_dir
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError
from flows import status

if TYPE_CHECKING:
    from chunklab_core.cache.maintenance import Inventory

_DESCRIPTION = """\
The cache keeps what every stage made, so that a run does nothing twice. It may be deleted at any time: what is
missing is made anew. See docs/cache.md.
"""
_EPILOG = """\
examples:
  chunklab cache info
  chunklab cache prune --older-than 30d
      what no run has used for 30 days goes
  chunklab cache prune --max-size 5GB
      what was used last the longest ago goes, until the rest fits
  chunklab cache prune --unused
      what the latest run of each pair of documents and questions does not need goes

status: 0 done, 1 verify found damage (it is taken away and made anew), 2 the request cannot be met
"""
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"(\d{1,9}(?:\.\d+)?)\s*([KMGT]?B)", re.IGNORECASE)
_SPANS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_SPAN = re.compile(r"(\d{1,5})\s*([mhdw])", re.IGNORECASE)  # 99999w ago there were dates already


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `chunklab cache`."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    doing = parser.add_subparsers(dest="doing", required=True, metavar="info|verify|prune|clear")
    info = doing.add_parser("info", help="what the cache holds, and how much it takes")
    info.add_argument("--json", action="store_true", help="print JSON")
    verify = doing.add_parser("verify", help="read everything; take away what is damaged")
    prune = doing.add_parser("prune", help="take away what is old, too much or not needed")
    prune.add_argument("--older-than", metavar="AGE", help="what no run has used for so long: 12h, 30d, 4w")
    prune.add_argument("--max-size", metavar="SIZE", help="the oldest, until the rest takes no more: 500MB, 5GB")
    prune.add_argument("--unused", action="store_true", help="all that the latest runs do not need")
    clear = doing.add_parser("clear", help="take everything away")
    for one in (info, verify, prune, clear):
        one.add_argument(
            "--cache-dir",
            metavar="DIR",
            type=typed_path,
            help="folder of the cache [CHUNKLAB_CACHE, else the system's cache folder]",
        )


def run(options: argparse.Namespace) -> int:
    """Does what was asked; the status."""
    from chunklab_core.cache.maintenance import check_is_cache

    folder = Path(options.cache_dir) if options.cache_dir else default_cache_dir()
    check_is_cache(folder)
    store = Store(folder, writable=options.doing != "info")
    lines, ended = {"info": _info, "verify": _verify, "prune": _prune, "clear": _clear}[options.doing](options, store)
    for line in lines:
        print(line)  # noqa: T201
    return ended


def _info(options: argparse.Namespace, store: Store) -> tuple[Iterator[str], int]:
    from chunklab_core.cache.maintenance import inventory

    found = inventory(store)
    if options.json:
        held = {**asdict(found), "folder": str(store.root), "last_used": _moment(found.last_used)}
        return iter([json.dumps(held, indent=1, ensure_ascii=False)]), status.DONE
    return _inventory_lines(store, found), status.DONE


def _inventory_lines(store: Store, found: "Inventory") -> Iterator[str]:
    yield f"{store.root}: {_bytes(found.n_bytes)}"
    if not found.results and not found.shelves:
        yield "It is empty."
        return
    rows = [("results of", part) for part in found.results] + [("items of", part) for part in found.shelves]
    for kind, part in rows:
        yield f"  {kind + ' ' + part.name[:40]:<50} {part.count:>10,} {_bytes(part.n_bytes):>10}"
    going_on = f", {found.n_living} going on" if found.n_living else ""
    yield f"{_count(found.n_runs, 'run')} on record{going_on}; last used {_moment(found.last_used) or 'never'}."
    if found.n_unused:
        yield f"Of no run on record: {_count(found.n_unused, 'result')}. They go with: chunklab cache prune --unused"


def _verify(_: argparse.Namespace, store: Store) -> tuple[Iterator[str], int]:
    from chunklab_core.cache.maintenance import verify
    from flows.progress import progress_shown

    with progress_shown(quiet=False):
        found = verify(store)
    lines = [
        f"{_count(found.n_results, 'result')} and {_count(found.n_items, 'item')} read, {len(found.damaged)} damaged."
    ]
    lines += [f"  damaged, taken away: {name}" for name in found.damaged]
    return iter(lines), status.FINDING if found.damaged else status.DONE


def _prune(options: argparse.Namespace, store: Store) -> tuple[Iterator[str], int]:
    from chunklab_core.cache.prune import prune

    if not (options.older_than or options.max_size or options.unused):
        raise ConfigError("cache prune: nothing says what is to go. Give --older-than, --max-size or --unused.")
    age = parse_age(options.older_than) if options.older_than else None
    gone = prune(
        store,
        unused_since=datetime.now(UTC) - age if age is not None else None,
        max_bytes=parse_size(options.max_size) if options.max_size else None,
        unused=options.unused,
    )
    taken = f"{_count(gone.n_results, 'result')} and {_count(gone.n_items, 'item')} taken away"
    lines = [f"{taken}, {_bytes(gone.freed_bytes)}; {_bytes(gone.left_bytes)} left."]
    if gone.n_spared:
        lines.append(f"{_count(gone.n_spared, 'result')} spared: a run that is going on needs them.")
    return iter(lines), status.DONE


def _clear(_: argparse.Namespace, store: Store) -> tuple[Iterator[str], int]:
    from chunklab_core.cache.maintenance import clear

    return iter([f"{_bytes(clear(store))} taken away from {store.root}."]), status.DONE


def typed_path(typed: str) -> str:
    """A path as typed. An empty one, as from a variable that is not set, is refused: it would mean another folder."""
    if not typed.strip():
        raise argparse.ArgumentTypeError("the path is empty; leave the option out, or name a path")
    return typed


def parse_size(typed: str) -> int:
    """Bytes of a size such as 500MB or 1.5GB. Raises ConfigError."""
    match = _SIZE.fullmatch(typed.strip())
    if not match:
        raise ConfigError(f"--max-size is {typed!r}; expected a number and a unit: 500MB, 5GB.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def parse_age(typed: str) -> timedelta:
    """The time that an age such as 12h, 30d or 4w stands for. Raises ConfigError."""
    match = _SPAN.fullmatch(typed.strip())
    if not match:
        raise ConfigError(f"--older-than is {typed!r}; expected up to five digits and m, h, d or w: 12h, 30d, 4w.")
    return int(match[1]) * _SPANS[match[2].lower()]


def _bytes(number: int) -> str:
    for unit, size in reversed(_UNITS.items()):
        if number >= size:
            return f"{number / size:,.1f} {unit}" if size > 1 else f"{number} B"
    return "0 B"


def _moment(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
