"""Starts a Prefect server in the background, unless one answers already, and says where its pages are."""

import os
import subprocess
import sys
import time

from flows.server import answers, local_address

_ANSWERS_WITHIN = 60.0  # seconds; the first start on a machine makes the database
_ASK_AGAIN_AFTER = 0.5  # seconds
_START = (sys.executable, "-m", "prefect", "server", "start", "--background")


def main() -> int:
    """The status of the command that starts the server; 0 where one runs already."""
    address = local_address()
    if not answers(address):
        # Without it, the pages of a server on another port ask for their data at port 4200.
        environment = {"PREFECT_SERVER_UI_API_URL": address, **os.environ}
        status = subprocess.run(_START, check=False, env=environment).returncode
        if status or not _answers_soon(address):
            print(f"The Prefect server does not answer at {address}.", file=sys.stderr)  # noqa: T201
            return status or 1
    print(  # noqa: T201
        f"The Prefect UI is at {address.removesuffix('/api')}. It keeps the history of every run from now on, for as "
        f"long as it runs.\nLet other commands of Prefect use it: export PREFECT_API_URL={address}\n"
        "Stop it with: prefect server stop"
    )
    return 0


def _answers_soon(address: str) -> bool:
    deadline = time.monotonic() + _ANSWERS_WITHIN
    while time.monotonic() < deadline:
        if answers(address):
            return True
        time.sleep(_ASK_AGAIN_AFTER)
    return False


if __name__ == "__main__":
    sys.exit(main())
