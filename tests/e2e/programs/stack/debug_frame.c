/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System calls below by_hand(), a function that only .debug_frame says how to unwind. */
#include <sys/syscall.h>

int by_hand(void); /* debug_frame_by_hand.S */

static volatile long sum;

long ask(void);

__attribute__((noinline)) long ask(void)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	return result | 1;
}

__attribute__((noinline)) static int middle(void)
{
	return by_hand() + 1;
}

int main(void)
{
	for (int i = 0; i < 50; i++)
		sum += middle();
	return 0;
}
