"""Starts a Prefect server in the background, unless one is running already, and prints the address of its UI."""

import os
import subprocess
import sys
import time

from flows.server import answers, local_address

_STARTS_WITHIN = 60.0  # seconds; the first start on a machine creates the database
_RETRY_AFTER = 0.5  # seconds
_START = (sys.executable, "-m", "prefect", "server", "start", "--background")


def main() -> int:
    """The status of the command that starts the server; 0 if a server is running already."""
    address = local_address()
    if not answers(address):
        # Without this setting, the UI of a server on another port requests its data from port 4200.
        environment = {"PREFECT_SERVER_UI_API_URL": address, **os.environ}
        status = subprocess.run(_START, check=False, env=environment).returncode
        if status or not _answers_soon(address):
            print(f"The Prefect server at {address} does not answer. See its output above.", file=sys.stderr)  # noqa: T201
            return status or 1
    print(  # noqa: T201
        f"The Prefect UI is at {address.removesuffix('/api')}. It keeps the history of all runs from now on.\n"
        f"To use this server in other Prefect commands: export PREFECT_API_URL={address}\n"
        "To stop it: prefect server stop"
    )
    return 0


def _answers_soon(address: str) -> bool:
    deadline = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < deadline:
        if answers(address):
            return True
        time.sleep(_RETRY_AFTER)
    return False


if __name__ == "__main__":
    sys.exit(main())
