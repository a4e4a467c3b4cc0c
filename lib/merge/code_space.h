/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The mappings and kernel modules of many recordings, as those of one recording. A file with a
 * build id has one mapping number, and a kernel or module with a build id has one load address, in
 * however many recordings it occurs. All other code is kept apart, so that no frame gets a name of
 * other code:
 *
 *    user frames    a mapping number of its own for each file and recording
 *    kernel frames  of the first machine: unchanged; of machine m > 0: at 1 << 63 | m << 48 |
 *                   lower 48 bits, where no kernel has code
 */
#ifndef LIB_MERGE_CODE_SPACE_H
#define LIB_MERGE_CODE_SPACE_H

#include "trace/read/reader.h"
#include "trace/write/writer.h"

#define MACHINES_MAX 1024U

struct code_space;

/* Translates the mapping numbers and kernel addresses of one recording to those of the
 * code_space. */
struct code_map;

int code_space_create(struct code_space **out); /* -ENOMEM */
void code_space_free(struct code_space **space);

/* Writes the new modules and mappings of a recording of `machine` (< MACHINES_MAX); process ids
 * are increased by `first_tid`. -ENOMEM, -E2BIG: too many mappings, or the error of the writer. */
int code_space_add_recording(struct code_space *space, const struct trace_reader *reader,
			     u32 machine, u32 first_tid, struct trace_writer *writer,
			     struct code_map **out);
void code_map_free(struct code_map **map);

/* Translates a frame of the recording to that of the merged recording. */
u64 code_map_frame(const struct code_map *map, u64 frame);
/* Translates a symbol of the recording to that of the merged recording. */
struct trace_symbol code_map_symbol(const struct code_map *map, const struct trace_symbol *symbol);

#endif
