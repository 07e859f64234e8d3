# SPDX-License-Identifier: MIT
"""Splits a subcommand's arguments into days, its own options and what it passes on."""
from __future__ import annotations

import difflib
from pathlib import Path

from days_cli import console
from days_cli.errors import DaysError

COLORS = ("auto", "always", "never")


class Arguments:
    """options: name -> value (True for a switch); words: the positional ones; rest: passed on untouched."""

    def __init__(self):
        self.options = {}
        self.words = []
        self.rest = []

    def get(self, name, default=None):
        return self.options.get(name, default)


def parse(command, arguments, valued=None, switches=(), words=0, passed_on=()):
    """valued: {"--backend": ("cuda", "simt") or None for any}; passed_on: names of valued options of the program that
    the command starts. Where there are any, unknown flags after the first word go there as well, as does all after --.
    """
    valued = dict(valued or {}, **{"--color": COLORS})
    switches = (*switches, "--help")
    result = Arguments()
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        name, equals, value = argument.partition("=")
        if argument == "-h":
            name = "--help"
        if argument == "--" and passed_on:
            result.rest += queue
            break
        if name in switches and not equals:
            result.options[name] = True
        elif name in valued:
            result.options[name] = _checked(command, name, valued[name], value if equals else _next(command, name, queue))
        elif name in passed_on:
            result.rest += [name, value if equals else _next(command, name, queue)]
        elif argument.startswith("-") and argument != "-":
            if not passed_on or not result.words:
                raise _unknown(command, name, [*switches, *valued, *passed_on])
            result.rest.append(argument)
        elif len(result.words) < words:
            result.words.append(argument)
        elif passed_on and result.rest:
            result.rest.append(argument)  # the value of a flag that only the program knows
        else:
            raise DaysError(f'days {command} does not know what to do with "{argument}"', _help(command))
    if "--color" in result.options:
        console.set_color(result.options["--color"])
    return result


def json_alone(arguments):
    """The arguments with `--json=-` where --json has no value after it: standard output is meant."""
    arguments = list(arguments)
    for i, argument in enumerate(arguments):
        following = arguments[i + 1:i + 2]
        if argument == "--json" and (not following or following[0].startswith("-") and following[0] != "-"):
            arguments[i] = "--json=-"
    return arguments


def known_variant(command, variant, names, day, noun="variant", flag=""):
    """DaysError with the nearest name where the day has no such variant, or program. flag: what the command wants before it."""
    names = list(names)
    if variant in names:
        return
    near = difflib.get_close_matches(variant, names, 1, 0.4)
    there = f"Nearest: {near[0]}" if near else "There are " + ", ".join(names)
    raise DaysError(f'day {day.label} has no {noun} "{variant}". {there}',
                    " ".join(filter(None, ["./days", command, str(day.number), flag, (near or names)[0]])))


def own_source(name, command):
    """The path of a file of the learner's own; DaysError where there is none, or one that no compiler here takes."""
    path = Path(name)
    if not path.is_file():
        raise DaysError(f"there is no file {path}", _help(command))
    if path.suffix not in (".cu", ".cpp", ".cc", ".cxx", ".py"):
        raise DaysError(f"{path} is neither C++ (.cu, .cpp) nor Python (.py)", _help(command))
    return path


def _help(command):
    return " ".join(filter(None, ["./days", command, "--help"]))


def _next(command, name, queue):
    if not queue or (queue[0].startswith("--") and len(queue[0]) > 2):
        raise DaysError(f"{name} needs a value", _help(command))
    return queue.pop(0)


def _checked(command, name, allowed, value):
    if allowed and value not in allowed:
        raise DaysError(f'{name} is {" or ".join(allowed)}, not "{value}"', _help(command))
    return value


def _unknown(command, name, known):
    near = difflib.get_close_matches(name, known, 1)
    return DaysError(f"days {command} has no flag {name}." + (f" Nearest: {near[0]}" if near else ""),
                     _help(command))
