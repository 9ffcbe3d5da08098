"""The file of frames that stand between a compiled frame and its caller.

`warnings` and `logging` do not count frames of a file that has both names of the import machinery in its own: a
`stacklevel` points past them.
"""

FRAME_FILE = "<graphmend, not counted like importlib._bootstrap>"
