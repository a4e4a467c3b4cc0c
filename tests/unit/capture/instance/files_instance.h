/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An instance with files, in a mount namespace with a BPF file system of its own. */
#ifndef TESTS_FILES_INSTANCE_H
#define TESTS_FILES_INSTANCE_H

#include <stdint.h>
#include <stdio.h>

#include "capture/capture.h"
#include "capture/capture_parts.h"
#include "capture/instance/files.h"
#include "unit_test.h"

#define BPFFS "/sys/fs/bpf"
#define FOLDER BPFFS "/files"
#define BITS 10

extern struct capture *capture;

/* Skips the test if the kernel has no instances. The function sets the folder of the options. */
void files_begin(struct files_options options, enum user_unwind unwind);
void files_end(void);

/* Set-up functions of cmocka; the files are for the owner only. */
int begin(void **state);
int begin_unwinding(void **state); /* with unwinding by tables */
int end(void **state);

FILE *open_file(const char *name);

/* Asserts that the whole file was read. */
void assert_end(FILE *file);

/* The number that the engine has given to a file whose path has `name` in it, or 0. */
u32 number_of(const char *name);
/* True if a file of that name has a table. Several files may have the name: processes outside of a
 * chroot have another C library. */
bool has_table(const char *name);

#endif
