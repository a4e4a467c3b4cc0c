#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What must hold on every kernel of the matrix. Runs inside the guest, with busybox and stackmap only.
set -u

echo "kernel $(uname -r)"
stackmap help
