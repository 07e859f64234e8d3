# SPDX-License-Identifier: MIT
"""The one way a command fails: a line that says what is wrong, a command that helps, and the exit code."""

WRONG = 1  # wrong result, report, failed gate, code that does not compile, no kernel ran
USAGE = 2  # unknown day or flag, a bad size
ENVIRONMENT = 3  # no compiler or network, GPU or driver too old, no room
INTERRUPTED = 130


class CommandError(Exception):
    """Ends the command: `error: message`, then `Next: hint` where there is one."""

    def __init__(self, message, hint="", code=USAGE):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
