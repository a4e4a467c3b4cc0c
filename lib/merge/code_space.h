/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code of many recordings as that of one. What is the same by its build id has one place: a
 * file one mapping number, a kernel or module one load address. What is not known to be the same is
 * kept apart, so no frame is ever named after other code:
 *
 *   user frames    a mapping number of their own
 *   kernel frames  of the first machine as they are; of machine m > 0 at
 *                  1 << 63 | m << 48 | lower 48 bits, where no kernel has anything
 */
#ifndef LIB_MERGE_CODE_SPACE_H
#define LIB_MERGE_CODE_SPACE_H

#include "trace/read/reader.h"
#include "trace/write/writer.h"

#define MACHINES_MAX 1024U

struct code_space;

/* Of the recording that is added now. */
struct code_map;

int code_space_create(struct code_space **out); /* -ENOMEM */
void code_space_free(struct code_space **space);

/* Writes the modules and mappings of a recording of `machine` (< MACHINES_MAX) that are new;
 * process ids are those of the merged recording, `first_tid` more. -ENOMEM, -E2BIG: too many
 * mappings, or the writer's error. */
int code_space_add(struct code_space *space, const struct trace_reader *reader, u32 machine,
		   u32 first_tid, struct trace_writer *writer, struct code_map **out);
void code_map_free(struct code_map **map);

/* Where a frame of the recording is in the merged one. */
u64 code_map_frame(const struct code_map *map, u64 frame);
/* A symbol, moved likewise. */
struct trace_symbol code_map_symbol(const struct code_map *map, const struct trace_symbol *symbol);

#endif
