/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An instance with files, in a mount namespace with a BPF file system of its own. */
#ifndef TESTS_FILES_INSTANCE_H
#define TESTS_FILES_INSTANCE_H

#include <stdint.h>
#include <stdio.h>

#include "capture/capture_parts.h"
#include "capture/instance/files.h"
#include "unit_test.h"

#define BPFFS "/sys/fs/bpf"
#define FOLDER BPFFS "/files"
#define BITS 10

extern struct capture *capture;

/* Skips the test where there are no instances. Of *options the folder is given here. */
void files_begin(struct files_options options, enum user_unwind unwind);
void files_end(void);

/* cmocka's: with files for the owner only. */
int begin(void **state);
int begin_unwinding(void **state); /* without frame pointers */
int end(void **state);

FILE *open_file(const char *name);

/* All was read. */
void assert_end(FILE *file);

/* The number that the engine has given to a file whose path has `name` in it, or 0. */
u32 number_of(const char *name);
/* Or one of several of that name: in a chroot, who runs outside meanwhile has another C library. */
bool has_table(const char *name);

#endif
