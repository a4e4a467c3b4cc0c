/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A workload whose functions have arguments of known sums, of the types that the calling convention
 * treats differently. `named_arguments N` calls each function N times, with i from 0.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define noinline __attribute__((noinline))

struct place {
	long where;
	short row;
};

struct request {
	int id;
	struct place at;
	const struct request *next;
	unsigned char kind;
};

struct pair {
	int first, second;
};

struct floats {
	float x, y, z;
};

struct mixed {
	double weight;
	long count;
};

struct large {
	long first, second, third;
};

enum level { LOW = -5, HIGH = 5 };

volatile long sink;

noinline void integers(int below, unsigned char low, long high, short less, bool odd,
		       enum level level, long left, int last)
{
	sink += below + low + high + less + odd + level + left + last;
}

noinline void structures(double weight, struct pair pair, struct floats floats, int number,
			 struct mixed mixed, struct large large, int last)
{
	sink += (long)weight + pair.first + (long)floats.x + number + mixed.count + large.second +
		last;
}

noinline struct large made(int number, const struct request *request)
{
	return (struct large){number, request->at.row, request->next->id};
}

int main(int argc, char **argv)
{
	int calls = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < calls; i++) {
		struct request next = {.id = 7 * i, .kind = 200};
		struct request request = {.id = i, .at = {1000, (short)(i - 3)}, .next = &next};

		integers(-i, (unsigned char)i, 1000L * i, (short)(2 - i), i & 1, i % 3 ? LOW : HIGH,
			 2L * i, 3 * i);
		structures(1.5, (struct pair){i, 4 * i}, (struct floats){1, 2, 3}, 5 * i,
			   (struct mixed){2, 6L * i}, (struct large){1, 7L * i, 3}, 8 * i);
		sink += made(9 * i, &request).first;
	}
	return 0;
}
