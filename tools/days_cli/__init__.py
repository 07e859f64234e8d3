# SPDX-License-Identifier: MIT
"""What `./days` does: one module a subcommand in commands/, and what they share beside it."""
