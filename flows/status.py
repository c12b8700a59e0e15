"""How a command ends: the statuses of the process."""

DONE = 0
UNUSABLE = 2  # an input cannot be used
FAULT = 70  # a fault of chunklab
STOPPED = 130  # by Ctrl-C
