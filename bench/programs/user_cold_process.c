/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes one system call below a chain of functions with different frames, so that all twenty frames
 * have different rules: getppid, fifteen links, main, and the three callers of main.
 */
#include <unistd.h>

static __attribute__((noinline)) int link_0(int sum)
{
	return getppid() + sum;
}

#define LINK(number, next, words)                                                                  \
	static __attribute__((noinline)) int link_##number(int sum)                                \
	{                                                                                          \
		volatile long room[words] = {sum};                                                 \
                                                                                                   \
		return link_##next(room[0] + 1) + room[0];                                         \
	}

LINK(1, 0, 2)
LINK(2, 1, 4)
LINK(3, 2, 6)
LINK(4, 3, 8)
LINK(5, 4, 10)
LINK(6, 5, 12)
LINK(7, 6, 14)
LINK(8, 7, 16)
LINK(9, 8, 18)
LINK(10, 9, 20)
LINK(11, 10, 22)
LINK(12, 11, 24)
LINK(13, 12, 26)
LINK(14, 13, 28)

int main(void)
{
	return link_14(1) == 0;
}
