/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call_paths PATHS REPEATS: ends in leaf() by PATHS different call paths, one after the other, all
 * of it REPEATS times. Path n is n in binary: LEVELS calls, of zero() or one(), highest bit first.
 * The names in a stack of leaf() give the number of the path; the position of the event gives the
 * expected number.
 */
#include <stdlib.h>

#define LEVELS 14

#define noinline __attribute__((noinline))

static void step(unsigned int path, int level);

static noinline void leaf(void)
{
	__asm__ volatile("" ::: "memory");
}

/* A probe at the start of leaf() may miss its caller, as no frame is set up yet. This function is
 * then the one that is missing. */
static noinline void last(void)
{
	leaf();
	__asm__ volatile("" ::: "memory");
}

static noinline void zero(unsigned int path, int level)
{
	step(path, level);
	__asm__ volatile("" ::: "memory");
}

static noinline void one(unsigned int path, int level)
{
	step(path, level);
	__asm__ volatile("" ::: "memory");
}

static noinline void step(unsigned int path, int level)
{
	if (!level)
		last();
	else if (path >> (level - 1) & 1)
		one(path, level - 1);
	else
		zero(path, level - 1);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	unsigned int paths, repeats, i, path;

	if (argc != 3)
		return 2;
	paths = (unsigned int)atoi(argv[1]);
	repeats = (unsigned int)atoi(argv[2]);
	for (i = 0; i < repeats; i++)
		for (path = 0; path < paths; path++)
			step(path, LEVELS);
	return 0;
}
