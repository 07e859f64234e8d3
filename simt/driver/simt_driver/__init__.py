# SPDX-License-Identifier: MIT
"""simt's command, `simtcc`: nvcc's place taken by this CPU."""
