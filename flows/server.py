"""Where Prefect keeps the history of a run: on a running server, else on a temporary one that ends with the run."""

import logging
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

_ANSWERS_WITHIN = 5.0  # seconds; a server on this machine takes 5 ms, unless the machine is busy
_RECORDED_WITHIN = 15.0  # seconds
_RETRY_AFTER = 0.1  # seconds

_log = logging.getLogger(__name__)


@contextmanager
def history_kept() -> Iterator[str | None]:
    """Prefect settings for one run from the command line; gives the server's address, None for a temporary server.

    The heartbeat is off: it costs a second at the end of every flow, and only deployments need it, to detect crashes.
    """
    from prefect.settings import (
        PREFECT_API_URL,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
        temporary_settings,
    )

    configured = PREFECT_API_URL.value()
    address = next((url for url in [configured or local_address()] if answers(url)), None)
    if configured and not address:
        _log.warning(
            "The Prefect server %s does not answer. A temporary server keeps the history of this run. "
            "Start the server, or unset PREFECT_API_URL.",
            configured,
        )
    updates = {
        PREFECT_API_URL: address,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE: True,
    }
    with temporary_settings(updates=updates):
        yield address


def local_address() -> str:
    """The address of a server on this machine, from Prefect's own settings of host and port."""
    from prefect.settings import PREFECT_SERVER_API_HOST, PREFECT_SERVER_API_PORT

    host = str(PREFECT_SERVER_API_HOST.value())
    return f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{PREFECT_SERVER_API_PORT.value()}/api"


def wait_until_recorded(flow_run_id: UUID, n_tasks: int) -> bool:
    """Waits until the end of every task run is on record; a temporary server would lose the others when it ends.

    Returns:
        Whether all of them are on record; the wait has a limit, in case the server is overloaded.
    """
    from prefect.client.orchestration import get_client

    ended = {
        "flow_runs": {"id": {"any_": [str(flow_run_id)]}},
        "task_runs": {"state": {"type": {"any_": ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]}}},
    }
    deadline = time.monotonic() + _RECORDED_WITHIN
    with get_client(sync_client=True) as client:
        while time.monotonic() < deadline:
            if client.request("POST", "/task_runs/count", json=ended).json() >= n_tasks:
                return True
            time.sleep(_RETRY_AFTER)
    _log.warning(
        "Prefect has not recorded all task runs after %.0f seconds. The report is complete; the history is not.",
        _RECORDED_WITHIN,
    )
    return False


def answers(url: str) -> bool:
    """Whether a Prefect server accepts our requests; its /health page answers without a password too."""
    from prefect.settings import PREFECT_API_AUTH_STRING

    request = urllib.request.Request(f"{url.rstrip('/')}/admin/version")
    secret = PREFECT_API_AUTH_STRING.value()
    if secret:
        import base64

        token = base64.b64encode(secret.get_secret_value().encode()).decode()
        request.add_header("Authorization", f"Basic {token}")
    try:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=_ANSWERS_WITHIN) as response:
            body: bytes = response.read()
            return body.startswith(b'"3.')
    except (OSError, urllib.error.URLError, ValueError):
        return False
