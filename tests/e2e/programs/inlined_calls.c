/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* inlined_calls N: asks for its parent N times, through two functions that are inlined. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define always_inline inline __attribute__((always_inline))

static always_inline void ask(void)
{
	syscall(SYS_getppid);
}

static always_inline void ask_again(int times)
{
	while (times--)
		ask();
}

static __attribute__((noinline)) void caller(int times)
{
	ask_again(times);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	caller(argc > 1 ? atoi(argv[1]) : 1);
	return 0;
}
