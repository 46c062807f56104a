"""The one exception that a solver or a bridge raises on input it cannot use."""


class FootholdError(Exception):
    """Input that cannot be used. The message names the file, bone, frame or row, and says what to do.

    Operators turn it into a report, the command line into exit code 3.
    """


class Cancelled(Exception):
    """The artist stopped a long task. Whoever catches it leaves everything as it was."""
