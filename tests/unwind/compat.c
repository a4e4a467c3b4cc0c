/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A 32-bit program with frame pointers that needs no 32-bit libraries. */
#define noinline __attribute__((noinline, noclone, used))
#define marker() __asm__ volatile("int3")

void _start(void);

static volatile int sink;

noinline static int leaf(int a)
{
	return a * 3 + sink;
}

noinline static int recursive(int depth, int a, int b)
{
	if (depth == 0)
		return leaf(a + b);
	return recursive(depth - 1, b, a + leaf(depth)) + leaf(a);
}

noinline static void leave(int status)
{
	__asm__ volatile("int $0x80" ::"a"(1), "b"(status));
}

noinline static int program(void)
{
	marker();
	sink += recursive(5, 1, 2);
	marker();
	return 0;
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

noinline void enter(void);
noinline void enter(void)
{
	leave(program());
}
