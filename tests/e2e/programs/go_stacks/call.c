/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off */
//go:build cgo
/* clang-format on */

/* C code that a Go program calls, and that calls back. */
#include "_cgo_export.h"

static volatile unsigned long sink;

__attribute__((noinline)) static void c_inner(void)
{
	for (int i = 0; i < 300; i++)
		sink += i * sink;
}

__attribute__((noinline)) unsigned long c_outer(int depth)
{
	unsigned long result;

	c_inner();
	result = goCallback(depth);
	c_inner();
	return result + sink;
}
