/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The true stack (shadow.h) of a 32-bit program with frame pointers, without 32-bit libraries. */
#define SHADOW_KEPT
#include "shadow.h"

#include "rule.h"

void _start(void);
void enter(void);

static volatile int sink;

noinline static int recursive(int depth, int a, int b)
{
	if (depth == 0)
		marker(0, STOP_ROOT);
	else
		sink += recursive(depth - 1, b, a + depth);
	return sink + a;
}

noinline static void deep(int depth)
{
	if (depth == 0)
		marker(0, STOP_DEPTH);
	else
		deep(depth - 1);
	sink++;
}

/* Sets ebp to 0, the end of the chain, as the C library's _start does. */
__asm__(".globl _start\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined eip\n"
	"xor %ebp, %ebp\n"
	"call enter\n"
	"hlt\n"
	".cfi_endproc\n");

noinline void enter(void)
{
	sink += recursive(5, 1, 2);
	deep(600);
	__asm__ volatile("int $0x80" ::"a"(1), "b"(0));
}
