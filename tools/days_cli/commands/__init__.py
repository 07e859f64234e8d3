# SPDX-License-Identifier: MIT
"""The subcommands: each module has SUMMARY, HELP and run(args) -> exit code."""
