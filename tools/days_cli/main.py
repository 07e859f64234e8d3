# SPDX-License-Identifier: MIT
"""`./days COMMAND ...`: finds the subcommand's module and runs it."""
from __future__ import annotations

import difflib
import importlib

from days_cli import COMMANDS, arguments, console
from days_cli.errors import DaysError
from simt_driver import shell

_FOOT = """
A day is named 14, day14, softmax, or by any unique prefix.
Every command takes --help and --color auto|always|never.
Exit codes: 0 good, 1 a kernel or its code is wrong, 2 no such day, flag
or size, 3 this machine lacks something (./days doctor)."""


def module_of(command):
    return importlib.import_module("days_cli.commands." + command)


def _help():
    console.say("GPU programming, one day at a time.\n")
    for command in COMMANDS:
        module = module_of(command)
        usage = f"./days {command} {module.USAGE}".rstrip()
        console.say(f"  {console.paint(usage, 'cyan')}{' ' * max(1, 29 - len(usage))}{module.SUMMARY}")
    console.say(_FOOT)
    return 0


def _dispatch(args):
    if args and args[0].partition("=")[0] == "--color":  # before the command it works as well
        size = 1 if "=" in args[0] else 2
        arguments.parse("", args[:size])
        args = args[size:]
    if not args:
        return module_of("list").overview()
    command, rest = args[0], args[1:]
    if command in ("--help", "-h", "help"):
        return _help()
    if command not in COMMANDS:
        what = "flag" if command.startswith("-") else "command"
        near = difflib.get_close_matches(command, COMMANDS, 1)
        raise DaysError(f'no {what} "{command}". ' + (f"Nearest: {near[0]}. " if near else "") + "There are "
                        + ", ".join(COMMANDS), f"./days {near[0]} --help" if near else "./days --help")
    return module_of(command).run(rest)


def main(args):
    return shell.run(lambda: _dispatch(list(args)), args)
