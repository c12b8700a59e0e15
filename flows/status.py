"""How a command ends: the statuses of the process."""

DONE = 0
FINDING = 1  # what was asked for was done, and found something wrong
UNUSABLE = 2  # an input cannot be used
FAULT = 70  # a fault of chunklab
STOPPED = 130  # by Ctrl-C
