"""Starts a Prefect server in the background, unless one answers already, and says where its pages are."""

import subprocess
import sys

from flows.server import LOCAL, answers

_PAGES = LOCAL.removesuffix("/api")


def main() -> int:
    """The status of the command that starts the server; 0 where one runs already."""
    if not answers(LOCAL):
        status = subprocess.run(
            [sys.executable, "-m", "prefect", "server", "start", "--background"], check=False
        ).returncode
        if status:
            return status
    print(  # noqa: T201
        f"The Prefect UI is at {_PAGES}. It keeps the history of every run from now on, for as long as it runs.\n"
        "Stop it with: prefect server stop"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
