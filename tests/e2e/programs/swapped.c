/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library that is built twice, as THROUGH = through_first and through_second, with frames of
 * different sizes (FRAME) but instructions of the same lengths. If an unwinder takes one library
 * for the other, the address looks right, but the step over the frame is wrong.
 */
#define SPINS 300

long THROUGH(void (*emit)(long), long n);

long THROUGH(void (*emit)(long), long n)
{
	volatile char frame[FRAME];

	frame[0] = (char)n;
	for (long i = 0; i < SPINS; i++)
		frame[1] = (char)i;
	emit(n);
	return frame[0];
}
