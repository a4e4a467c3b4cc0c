/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance that goes on without the process that started it: everything of it is pinned in a
 * folder (capture/bpffs/folder.h), as
 *
 *   map_NAME        its maps, the shared ones of the engine too; map_table_N those of the stack map
 *   event_N_NAME    its programs that events run, N the set they are in
 *   program_N_NAME  its other programs
 *   link_N          what holds programs to their sources: without these it records nothing
 */
#ifndef LIB_CAPTURE_PERSIST_H
#define LIB_CAPTURE_PERSIST_H

#include "capture/bpffs/folder.h"
#include "capture/load/loaded.h"
#include "number_list.h"

struct symbolizers;

struct persist_options {
	gid_t group;			/* may read the files, or FOLDER_NO_GROUP */
	const char *command_line;	/* that started it */
	const struct number_list *pids; /* what it records, for tables of their code; none: all */
	struct symbolizers *symbolizers;
};

/* Attached; the folder was claimed. When it returns 0 the instance does not need us any more. The
 * last of it, up to a second, are tables: the instance is there already. Where this kernel refuses
 * the files that people read, the instance has none, and `files_refusal` says why; it is empty
 * otherwise. */
int persist(struct loaded *loaded, struct folder *folder, const struct persist_options *options,
	    struct stackmap_error *files_refusal, struct stackmap_error *error);

/* What a map or program is pinned as: bytes at most of a pin's name, the terminating 0 included. */
#define PIN_BYTES 64
void pin_of_map(const char *map, char *pin);
void pin_of_program(u32 set, const char *program, char *pin);
void pin_of_table(u32 table, char *pin);
#define PIN_METADATA "map_metadata"
#define PIN_EVENTS "event_"

#endif
