/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An exception goes through ten frames of deep(): main -> catching -> deep... -> the C++ runtime,
 * and from the destructor of each frame: deep -> ~guard -> leaf.
 */
#define noclone
#include "work.h"

struct guard {
	APART ~guard()
	{
		leaf();
		AFTER_CALL();
	}
};

APART static void deep(int depth)
{
	guard each;

	if (depth)
		deep(depth - 1);
	else
		throw depth;
	AFTER_CALL();
}

APART static void catching()
{
	try {
		deep(10);
	} catch (int) {
		sink++;
	}
}

int main(int, char **argv)
{
	while (is_time_left(argv))
		catching();
	return 0;
}
