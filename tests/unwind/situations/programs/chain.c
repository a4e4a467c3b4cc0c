/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main -> outer -> middle -> leaf. With NO_LIBC the program has a _start of its own and needs no
 * library; each function lies in a section of its own, for linker scripts.
 */
#include "work.h"

APART void middle(int n);
void middle(int n)
{
	volatile char frame[40];

	frame[n] = 1;
	leaf();
	sink += (unsigned char)frame[n];
}

APART void outer(int n);
void outer(int n)
{
	volatile char frame[24];

	frame[n] = 1;
	middle(n);
	sink += (unsigned char)frame[n];
}

int main(int argc, char **argv)
{
	while (is_time_left(argv))
		outer(argc);
	return 0;
}

#ifdef NO_LIBC
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	mov (%rsp), %rdi\n"
	"	lea 8(%rsp), %rsi\n"
	"	and $-16, %rsp\n"
	"	call main\n"
	"	mov %eax, %edi\n"
	"	mov $231, %eax\n" /* exit_group */
	"	syscall\n"
	"	.cfi_endproc\n"
	"	.size _start, . - _start\n");
#endif
