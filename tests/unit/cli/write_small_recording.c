/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the small recording for tests that run the program: write_small_recording [--summary |
 * --values] FILE. In the summary each event has three repeats; --values gives events two values. */
#include <stdio.h>
#include <string.h>

#include "../report/small_recording.h"

int main(int argc, char **argv)
{
	int err = -1;

	if (argc == 3 && strcmp(argv[1], "--summary") == 0)
		err = small_recording_write_often(argv[2], 3, true);
	else if (argc == 3 && strcmp(argv[1], "--values") == 0)
		err = small_recording_write_values(argv[2]);
	else if (argc == 2)
		err = small_recording_write(argv[1]);
	if (err)
		fprintf(stderr, "write_small_recording: %s\n", strerror(-err));
	return err ? 1 : 0;
}
