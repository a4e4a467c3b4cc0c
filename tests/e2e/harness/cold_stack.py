# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The stack of the program cold_stack."""

CHAIN = ["innermost", "inner", "middle", "outer", "main"]
CALLS = 3
