/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fixture of tests that write one recording: a folder in memory with the file `path`, the
 * file that the writer keeps as `path`.old, and a damaged copy of the recording. */
#ifndef TESTS_UNIT_TRACE_DATA_FOLDER_H
#define TESTS_UNIT_TRACE_DATA_FOLDER_H

#include "memory_folder.h"
#include "unit_test.h"

static char directory[MEMORY_FOLDER_BYTES];
static char path[64], old_path[72], damaged_path[64];

static inline int make_directory(void **state)
{
	(void)state;
	if (memory_folder_create(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/data", directory);
	snprintf(old_path, sizeof(old_path), "%s.old", path);
	snprintf(damaged_path, sizeof(damaged_path), "%s/damaged", directory);
	return 0;
}

static inline int remove_files(void **state)
{
	(void)state;
	unlink(path);
	unlink(old_path);
	unlink(damaged_path);
	return 0;
}

/* Fails if a test has left another file in the folder. */
static inline int remove_directory(void **state)
{
	remove_files(state);
	return rmdir(directory);
}

#endif
