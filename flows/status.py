"""The exit status of a command."""

DONE = 0
FINDING = 1  # the command finished and found a problem
UNUSABLE = 2  # an input cannot be used
FAULT = 70  # a bug in chunklab
STOPPED = 130  # by Ctrl-C
