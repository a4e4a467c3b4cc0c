/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames MS WHAT: main -> of(WHAT) -> leaf, where the function between has an unusual frame.
 *
 *   alloca      memory of a size that is known at run time
 *   vla         an array of such a size
 *   large       more than a page
 *   realigned   a vector, and memory of a size that is known at run time
 *   tail        passing() ends with a jump to leaf()
 *   callback    through the C library's qsort()
 *   jump        leaf() on the way out of longjmp()
 *   switched    through a table of jumps
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

APART static void of_alloca(size_t bytes)
{
	volatile char *memory = alloca(bytes);

	memory[bytes / 2] = 1;
	leaf();
	sink += (unsigned char)memory[bytes / 2];
}

APART static void of_vla(size_t bytes)
{
	volatile char memory[bytes];

	memory[bytes / 2] = 1;
	leaf();
	sink += (unsigned char)memory[bytes / 2];
}

APART static void of_large(size_t at)
{
	volatile char memory[70000];

	memory[at] = 1;
	leaf();
	sink += (unsigned char)memory[at];
}

APART static void of_realigned(size_t bytes)
{
	volatile long vector[16] __attribute__((aligned(64)));
	volatile char *memory = alloca(bytes);

	vector[bytes & 15] = memory[0] = 2;
	leaf();
	sink += (unsigned long)vector[bytes & 15] + (unsigned char)memory[0];
}

/* passing() ends with a jump, so its frame is gone when leaf() runs. */
APART static void passing(void)
{
	sink++;
	leaf();
}

APART static void of_tail(void)
{
	passing();
	AFTER_CALL();
}

static int compare(const void *a, const void *b)
{
	leaf();
	return *(const int *)a - *(const int *)b;
}

APART static void of_callback(void)
{
	int numbers[] = {5, 3, 9, 1, 7, 2};

	qsort(numbers, 6, sizeof(numbers[0]), compare);
	sink += (unsigned long)numbers[0];
}

static jmp_buf place;

APART static void jump(int depth)
{
	if (depth)
		jump(depth - 1);
	else
		longjmp(place, 1);
	AFTER_CALL();
}

APART static void of_jump(void)
{
	if (!setjmp(place))
		jump(3);
	leaf();
	AFTER_CALL();
}

APART static void of_switched(unsigned way)
{
	switch (way % 6) {
	case 0:
		sink += 3;
		break;
	case 1:
		leaf();
		break;
	case 2:
		sink *= 5;
		break;
	case 3:
		sink -= 7;
		leaf();
		break;
	case 4:
		sink ^= 9;
		break;
	default:
		leaf();
		sink = 11;
	}
	AFTER_CALL();
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "alloca";

	for (size_t bytes = 100; is_time_left(argv); bytes = bytes % 900 + 17) {
		if (!strcmp(what, "alloca"))
			of_alloca(bytes);
		else if (!strcmp(what, "vla"))
			of_vla(bytes);
		else if (!strcmp(what, "large"))
			of_large(bytes);
		else if (!strcmp(what, "realigned"))
			of_realigned(bytes);
		else if (!strcmp(what, "tail"))
			of_tail();
		else if (!strcmp(what, "callback"))
			of_callback();
		else if (!strcmp(what, "jump"))
			of_jump();
		else
			of_switched((unsigned)bytes);
	}
	return 0;
}
