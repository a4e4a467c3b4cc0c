#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The stack map on every kernel of the matrix: its verifier takes the programs, and the stress holds.
stack_map_stress
