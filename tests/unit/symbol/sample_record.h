/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mapping records as the BPF programs would write them. */
#ifndef TESTS_SAMPLE_RECORD_H
#define TESTS_SAMPLE_RECORD_H

#include <stdbool.h>

#include "mapping.h"

/* The path of a record from its text: innermost component first. */
void sample_record_path(struct mapping_record *record, const char *path);

/* A record of the file at `path`, as if this process had mapped it. */
void sample_record_file(struct mapping_record *record, const char *path);

/* A record of this process's mapping of `address`, from /proc/self/maps. False: no mapping has the
 * address. */
bool sample_record_mapped(struct mapping_record *record, const void *address);

#endif
