/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Built twice, as THROUGH = through_first and through_second, with frames of different sizes
 * (FRAME) but instructions of the same lengths: whoever takes one library for the other finds a
 * place that looks right, and steps over the wrong frame.
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
