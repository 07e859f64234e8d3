# SPDX-License-Identifier: MIT
"""The one way a command fails, which is simt's driver's: a line that says what is wrong, a command that helps, and the exit code."""
from simt_driver.errors import ENVIRONMENT, INTERRUPTED, USAGE, WRONG  # noqa: F401
from simt_driver.errors import CommandError as DaysError  # noqa: F401
