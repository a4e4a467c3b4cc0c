/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exec_swap N OTHER: calls leaf() and becomes OTHER, which does the same, N times in all. Built as
 * two programs at one fixed address, with frames of different sizes (FRAME) and functions of their
 * own (THROUGH): one process that runs another program at each turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "own_syscall.h"

#define APART __attribute__((noinline, noclone))
#define SPINS 3000

static APART void leaf(long n)
{
	own_syscall(SYS_getppid, n);
}

static APART void THROUGH(long n)
{
	volatile char frame[FRAME];

	frame[0] = (char)n;
	for (long i = 0; i < SPINS; i++)
		frame[1] = (char)i;
	leaf(frame[0]);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	char left[32];
	long n;

	if (argc != 3)
		return 2;
	n = atol(argv[1]);
	if (!n)
		return 0;
	THROUGH(n);
	snprintf(left, sizeof(left), "%ld", n - 1);
	execl(argv[2], argv[2], left, argv[0], NULL);
	return 1;
}
