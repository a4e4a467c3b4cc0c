#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The engine for other tools, on every kernel of the matrix: the verifier takes their programs, and stacks that they
# unwind on the spot are right.
test_client
