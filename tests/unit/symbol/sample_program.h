/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs for these tests, compiled when the test runs, each in a folder of its own that is
 * removed at the end. */
#ifndef TESTS_SAMPLE_PROGRAM_H
#define TESTS_SAMPLE_PROGRAM_H

#include <stdbool.h>

#define SAMPLE_PATH_BYTES 256

struct sample {
	const char *label;
	const char *compile; /* shell command; $IN is the source, $OUT the program */
	const char *source;  /* C or C++ */
	const char *suffix;  /* name of the source file */
};

extern const char sample_c[];
extern const char sample_cxx[];
extern const char sample_versioned[]; /* a library with two versions of api() */

/* False if no compiler is installed: the reason is on stdout. */
bool sample_folder_create(void);
void sample_folder_remove(void);
int sample_folder_teardown(
	void **state); /* sample_folder_remove() as a teardown function of cmocka */
const char *sample_folder(void);

/* Compiles the sample, and fails the test on an error. `path` gets the program. */
void sample_build(const struct sample *sample, char path[SAMPLE_PATH_BYTES]);

#endif
