"""The evaluation as a Prefect flow, and the commands that run it.

Prefect reads its settings when it is imported, so what an evaluation needs is said here, before: analytics off (they
log an error on a machine without a network), every task run recorded (with the usual batches a short run ends before
its last task runs are written), and time for a temporary server to start on a machine that is busy. Whoever has set
one of these keeps their value.
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
