"""The command `chunklab cache`: shows what the cache holds, checks it and shrinks it."""

import argparse
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

from chunklab_core.cache.fallback import default_cache_dir
from chunklab_core.cache.maintenance import Inventory, check_is_cache, clear, inventory, verify
from chunklab_core.cache.prune import prune
from chunklab_core.cache.store import Store
from chunklab_core.errors import ConfigError
from flows import status
from flows.options import add_cache_dir
from flows.progress import progress_shown

_DESCRIPTION = """\
The cache keeps the results of every stage, so that no work is done twice. You may delete it at any
time: the next run makes everything again. See docs/cache.md.
"""
_EPILOG = """\
examples:
  %(prog)s info
      show what the cache holds
  %(prog)s prune --older-than 30d
      remove everything that no run has used for 30 days
  %(prog)s prune --max-size 5GB
      remove the least recently used results until the rest fits

exit status:
  0  done
  1  verify found damage and removed it; the next run makes it again
  2  an input cannot be used; one line explains what to change
"""
_PRUNE_DESCRIPTION = """\
Removes results that are old, too many or no longer needed. Results that a running run needs stay.
Give at least one option.
"""
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"(\d{1,9}(?:\.\d+)?)\s*([KMGT]?B)", re.IGNORECASE)
_SPANS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_SPAN = re.compile(r"(\d{1,5})\s*([mhdw])", re.IGNORECASE)  # five digits: 99999 weeks ago is still a valid date

Outcome = tuple[Iterator[str], int]
"""The lines to print, and the status."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `chunklab cache`."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    actions = parser.add_subparsers(title="actions", required=True, metavar="info|verify|prune|clear")

    def add(name: str, act: Callable[[argparse.Namespace, Store], Outcome], summary: str) -> argparse.ArgumentParser:
        action = actions.add_parser(name, help=summary, description=f"{summary.capitalize()}.")
        action.set_defaults(act=act, quiet=False, reads_only=False)
        add_cache_dir(action)
        return action

    info = add("info", _info, "show what the cache holds and how large it is")
    info.set_defaults(reads_only=True)
    info.add_argument("--json", action="store_true", help="print JSON")
    verify = add("verify", _verify, "check everything and remove what is damaged")
    verify.set_defaults(quiet=True)  # the command lists the damage itself, so the log need not
    prune = add("prune", _prune, "remove results that are old, too many or not needed")
    prune.description = _PRUNE_DESCRIPTION
    prune.add_argument("--older-than", metavar="AGE", help="results that no run has used for this long: 12h, 30d, 4w")
    prune.add_argument(
        "--max-size", metavar="SIZE", help="the least recently used results, until the rest fits: 500MB, 5GB"
    )
    prune.add_argument(
        "--unused",
        action="store_true",
        help="results that the latest run of each pair of documents and questions does not need",
    )
    add("clear", _clear, "remove everything")


def run(options: argparse.Namespace) -> int:
    """Runs the chosen action and prints its lines; returns the status."""
    folder = Path(options.cache_dir) if options.cache_dir else default_cache_dir()
    check_is_cache(folder)
    lines, ended = options.act(options, Store(folder, writable=not options.reads_only))
    for line in lines:
        print(line)  # noqa: T201
    return int(ended)


def parse_size(size: str) -> int:
    """Bytes of a size such as 500MB or 1.5GB. Raises ConfigError."""
    match = _SIZE.fullmatch(size.strip())
    if not match:
        raise ConfigError(f"--max-size is {size!r}. Give a number and a unit, such as 500MB or 5GB.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def parse_age(age: str) -> timedelta:
    """The time span of an age such as 12h, 30d or 4w. Raises ConfigError."""
    match = _SPAN.fullmatch(age.strip())
    if not match:
        raise ConfigError(f"--older-than is {age!r}. Give up to five digits and m, h, d or w, such as 12h or 30d.")
    return int(match[1]) * _SPANS[match[2].lower()]


# ---------------------------------------------------------------- actions


def _info(options: argparse.Namespace, store: Store) -> Outcome:
    found = inventory(store)
    if not options.json:
        return _inventory_lines(store, found), status.DONE
    last_used = found.last_used and found.last_used.isoformat(timespec="seconds")
    mapping = {**asdict(found), "folder": str(store.root), "last_used": last_used}
    return iter([json.dumps(mapping, indent=1, ensure_ascii=False)]), status.DONE


def _inventory_lines(store: Store, found: Inventory) -> Iterator[str]:
    yield f"{store.root}: {_bytes(found.n_bytes)}"
    if not found.results and not found.shelves:
        yield "The cache is empty."
        return
    parts = [(f"results of {part.name}", part) for part in found.results]
    parts += [(f"items of {part.name}", part) for part in found.shelves]
    for title, part in parts:
        yield f"  {title[:50]:<50} {part.count:>10,} {_bytes(part.n_bytes):>10}"
    running = f", {found.n_living} of them running" if found.n_living else ""
    last_used = f"{found.last_used:%Y-%m-%d %H:%M} UTC" if found.last_used else "never"
    yield f"{_count(found.n_runs, 'run')} on record{running}; last used: {last_used}."
    if found.n_unused:
        yield f"Used by no recorded run: {_count(found.n_unused, 'result')}. Remove with: chunklab cache prune --unused"


def _verify(_: argparse.Namespace, store: Store) -> Outcome:
    with progress_shown(quiet=False):
        found = verify(store)
    read = f"{_count(found.n_results, 'result')} and {_count(found.n_items, 'item')}"
    lines = [f"Checked {read}: {len(found.damaged) or 'none'} damaged."]
    lines += [f"  damaged and removed: {name}" for name in found.damaged]
    return iter(lines), status.FINDING if found.damaged else status.DONE


def _prune(options: argparse.Namespace, store: Store) -> Outcome:
    if not (options.older_than or options.max_size or options.unused):
        raise ConfigError("cache prune needs an option. Give --older-than, --max-size or --unused.")
    age = parse_age(options.older_than) if options.older_than else None
    max_bytes = parse_size(options.max_size) if options.max_size else None
    with progress_shown(quiet=False, waiting_for="removing results"):
        pruned = prune(
            store,
            unused_since=datetime.now(UTC) - age if age is not None else None,
            max_bytes=max_bytes,
            unused=options.unused,
        )
    removed = f"{_count(pruned.n_results, 'result')} and {_count(pruned.n_items, 'item')}"
    lines = [f"Removed {removed} ({_bytes(pruned.freed_bytes)}); {_bytes(pruned.left_bytes)} left."]
    if pruned.n_spared:
        lines.append(f"Kept {_count(pruned.n_spared, 'more result')} for a run that is still running.")
    return iter(lines), status.DONE


def _clear(_: argparse.Namespace, store: Store) -> Outcome:
    with progress_shown(quiet=False, waiting_for="removing results"):
        n_bytes = clear(store)
    return iter([f"Removed {_bytes(n_bytes)} from {store.root}."]), status.DONE


def _bytes(number: int) -> str:
    for unit, size in reversed(_UNITS.items()):
        if number >= size:
            return f"{number / size:,.1f} {unit}" if size > 1 else f"{number} B"
    return "0 B"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
