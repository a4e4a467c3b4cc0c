/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls mark() a given number of times from each kind of frame, then spins in a function that makes
 * no calls. Built without frame pointers; the names of the functions say what a stack must hold.
 *
 * usage: frame_kinds CALLS SPINS
 */
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define noinline __attribute__((noinline))
#define keep(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

static volatile long spun;

static noinline void mark(void)
{
	__asm__ volatile("" ::: "memory");
}

static noinline void small_frame(long n)
{
	while (n--)
		mark();
}

static noinline void large_frame(long n)
{
	char bytes[20000];

	memset(bytes, n, sizeof(bytes));
	keep(bytes);
	while (n--)
		mark();
	keep(bytes);
}

static noinline void variable_frame(long n)
{
	char *bytes = alloca(16 * n);

	memset(bytes, n, n);
	keep(bytes);
	while (n--)
		mark();
	keep(bytes);
}

/* The jump to small_frame() leaves no frame of this function. */
static noinline void jumping_frame(long n)
{
	small_frame(n);
}

static noinline void deep_frame(long n, int depth)
{
	char bytes[600];

	keep(bytes);
	if (depth)
		deep_frame(n, depth - 1);
	else
		large_frame(n);
	keep(bytes);
}

static void on_signal(int number)
{
	mark();
	keep(&number);
}

static noinline void interrupted_frame(long n)
{
	signal(SIGUSR1, on_signal);
	while (n--)
		kill(getpid(), SIGUSR1);
}

static int compare(const void *left, const void *right)
{
	mark();
	return *(const char *)left - *(const char *)right;
}

/* The sort of the C library calls back. */
static noinline void called_back(long n)
{
	char letters[2] = {'b', 'a'};

	while (n--)
		qsort(letters, 2, 1, compare);
}

static noinline void spin_without_calls(long n)
{
	while (n--)
		spun++;
}

static noinline void spin(long n)
{
	for (int i = 0; i < 100; i++)
		spin_without_calls(n / 100);
	keep(&n);
}

int main(int count, char **arguments)
{
	long calls = count > 1 ? atol(arguments[1]) : 1, spins = count > 2 ? atol(arguments[2]) : 0;

	small_frame(calls);
	large_frame(calls);
	variable_frame(calls);
	jumping_frame(calls);
	deep_frame(calls, 5);
	interrupted_frame(calls);
	called_back(calls);
	spin(spins);
	return 0;
}
