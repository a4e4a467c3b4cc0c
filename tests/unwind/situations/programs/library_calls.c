/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * library_calls MS: calls of the C library, to be run with a C library without unwind tables: main
 * -> sorting -> qsort -> compare -> leaf; main -> copying -> memcpy; main -> printing -> snprintf;
 * main -> allocating -> malloc, free; main -> calculating -> pow.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

static char from[1 << 16], to[1 << 16];

static int compare(const void *a, const void *b)
{
	leaf();
	return *(const int *)a - *(const int *)b;
}

APART static void sorting(void)
{
	int numbers[] = {5, 3, 9, 1, 7, 2};

	qsort(numbers, 6, sizeof(numbers[0]), compare);
	sink += (unsigned long)numbers[0];
}

APART static void copying(void)
{
	for (int i = 0; i < 200; i++) {
		from[i] = (char)sink;
		memcpy(to, from, sizeof(to) - (size_t)i);
		sink += (unsigned char)to[i];
	}
}

APART static void printing(void)
{
	char text[100];

	for (int i = 0; i < 1000; i++)
		sink += (unsigned long)snprintf(text, sizeof(text), "%d %s %.17g", i, "text",
						i * 1.1);
}

APART static void allocating(void)
{
	void *memory[100];

	for (int turn = 0; turn < 50; turn++) {
		for (size_t i = 0; i < 100; i++)
			memory[i] = malloc(10 + i * 20);
		for (int i = 0; i < 100; i++)
			free(memory[i]);
		AFTER_CALL();
	}
}

APART static void calculating(void)
{
	double sum = 0;

	for (int i = 0; i < 10000; i++)
		sum += pow(1.0 + i * 1e-4, 1.7) + sin(i);
	sink += (unsigned long)sum;
}

int main(int argc, char **argv)
{
	(void)argc;
	while (is_time_left(argv)) {
		sorting();
		copying();
		printing();
		allocating();
		calculating();
	}
	return 0;
}
