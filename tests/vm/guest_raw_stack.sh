#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Stacks that user space finishes, on every kernel of the matrix: the verifier takes the program, and what it saves is
# a known call chain.
test_raw_stack /bin/unwind_chain
