/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deep MS FRAMES: main -> often or seldom (one call in four) -> again, FRAMES times -> leaf.
 */
#include <stdlib.h>

#include "work.h"

APART static void again(int depth)
{
	if (depth)
		again(depth - 1);
	else
		leaf();
	AFTER_CALL();
}

APART static void often(int depth)
{
	again(depth);
	AFTER_CALL();
}

APART static void seldom(int depth)
{
	again(depth);
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	int depth = argc > 2 ? atoi(argv[2]) : 100;

	for (int turn = 0; is_time_left(argv); turn++) {
		if (turn % 4)
			often(depth);
		else
			seldom(depth);
	}
	return 0;
}
