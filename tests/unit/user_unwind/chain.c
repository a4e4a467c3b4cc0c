/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A program that knows its own call chain: at the breakpoint rax points to the return addresses,
 * innermost first. The same function then calls the vdso and the kernel. */
#include <time.h>
#include <unistd.h>

#include "chain.h"

#define noinline __attribute__((noinline, noclone))

static struct chain chain;
static volatile long sink;

/* The callee stores its return address. Callers come before callees, so the array is filled from
 * its end. */
#define note() (chain.address[CHAIN_LENGTH - ++chain.count] = (u64)__builtin_return_address(0))

noinline static long inner(long n)
{
	struct timespec now;

	note();
	__asm__ volatile("int3" ::"a"(&chain) : "memory");
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_nsec + getppid() + n + sink;
}

noinline static long middle(long n, long m)
{
	volatile long room[300];

	note();
	room[n & 31] = m;
	return inner(room[n & 31] + n) * m + sink;
}

noinline static long outer(long n)
{
	long a = sink, b = n * a, c = b ^ n;

	note();
	return middle(a + n, b) + a * b + c + sink;
}

int main(int argc, char **argv)
{
	(void)argv;
	note();
	return outer(argc) == 12345;
}
