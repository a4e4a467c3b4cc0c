/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the small recording for tests that run the program: write_small_recording FILE. */
#include <stdio.h>
#include <string.h>

#include "../report/small_recording.h"

int main(int argc, char **argv)
{
	int err = argc == 2 ? small_recording_write(argv[1]) : -1;

	if (err)
		fprintf(stderr, "write_small_recording: %s\n", strerror(-err));
	return err ? 1 : 0;
}
