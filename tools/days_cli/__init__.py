# SPDX-License-Identifier: MIT
"""What `./days` does: one module a subcommand in commands/, and what they share beside it."""

# The subcommands, each a module of days_cli.commands, in the order of --help.
COMMANDS = (
    "list",
    "run",
    "check",
    "watch",
    "hint",
    "solution",
    "reset",
    "next",
    "test",
    "bench",
    "report",
    "explain",
    "asm",
    "cc",
    "doctor",
    "new",
)
