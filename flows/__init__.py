"""The evaluation as a Prefect flow, and the commands that run it.

Prefect reads its settings when it is imported, so this package sets them first. Analytics are off, because they log an
error on a machine without a network. The recorder writes often; with its usual batches, a short run ends before its
last task runs are recorded. A temporary server has two minutes to start on a busy machine. A value that the user has
set stays.
"""

import os

for _name, _value in {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_LOGGING_LEVEL": "WARNING",
    "DO_NOT_TRACK": "1",
}.items():
    os.environ.setdefault(_name, _value)
