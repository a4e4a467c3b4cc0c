/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * known_shares MILLISECONDS A B C D: works for this CPU time in the functions share_a() to
 * share_d(), whose parts of it are as the four numbers. A turn takes less than a millisecond, so
 * that each piece of the time has the same parts.
 */
#include <stdlib.h>
#include <time.h>

#define ROUNDS 100 /* for each unit of a part, in a turn */

static volatile unsigned long sink;

/* The four have the same code, aligned alike, so that their rounds take the same time. */
#define SHARE(name)                                                                                \
	__attribute__((noinline, aligned(64))) static void share_##name(unsigned long rounds)      \
	{                                                                                          \
		while (rounds--)                                                                   \
			sink++;                                                                    \
	}

SHARE(a)
SHARE(b)
SHARE(c)
SHARE(d)

static long cpu_milliseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	unsigned long part[4];

	if (argc != 6)
		return 2;
	for (int i = 0; i < 4; i++)
		part[i] = strtoul(argv[2 + i], NULL, 10) * ROUNDS;
	while (cpu_milliseconds() < atol(argv[1])) {
		share_a(part[0]);
		share_b(part[1]);
		share_c(part[2]);
		share_d(part[3]);
	}
}
