/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance that goes on without the process that started it: how it is pinned, opened by another
 * process, and stopped. All its parts are pinned in a folder (capture/bpffs/folder.h):
 *
 *   map_NAME        maps, with those of the engine; map_table_N: tables of the stack map
 *   event_N_NAME    programs of events; N = number of the program set
 *   program_N_NAME  other programs
 *   link_N          links of programs to their sources: they keep the instance recording
 */
#ifndef LIB_CAPTURE_PERSIST_H
#define LIB_CAPTURE_PERSIST_H

#include "capture/bpffs/folder.h"
#include "capture/instance/metadata.h"
#include "capture/load/loaded.h"
#include "number_list.h"

struct symbolizers;

struct persist_options {
	gid_t group;		  /* may read the files, or FOLDER_NO_GROUP */
	const char *command_line; /* the command line that started the instance */
	const struct number_list
		*pids; /* recorded processes, for tables of their code; empty = all */
	struct symbolizers *symbolizers;
};

/* Persists an attached capture in a claimed folder. After 0 the instance does not need this process
 * any more. The last second of the call may go into unwind tables, when the instance is complete
 * already. If this kernel refuses the files that people read, the instance goes on without files,
 * and `files_refusal` has the reason; else `files_refusal` is empty. */
int persist(struct loaded *loaded, struct folder *folder, const struct persist_options *options,
	    struct stackmap_error *files_refusal, struct stackmap_error *error);

/* Names of pins, at most PIN_BYTES with the NUL. */
#define PIN_BYTES 64
void pin_of_map(const char *map, char *pin);
void pin_of_program(u32 set, const char *program, char *pin);
void pin_of_table(u32 table, char *pin);
#define PIN_METADATA "map_metadata"
#define PIN_EVENTS "event_"

/* Opens an instance without a process from its pins. */

/* *metadata is for the caller to free after `loaded`, which borrows its sources; it may be set on
 * failure, too. -EPROTO: another version of stackmap started the instance. */
int instance_open(struct loaded *loaded, struct folder *folder, struct metadata **metadata,
		  struct stackmap_error *error);

/* Sets `error` for a result of opening, and returns `result`. */
int instance_open_failed(struct folder *folder, int result, struct stackmap_error *error);

/* The end of an instance without a process. */

/* Removes a locked folder, and returns when the kernel has detached and freed the programs of the
 * instance, or after a second: then another process still has parts of the instance open. */
int instance_stop(struct folder *folder, struct stackmap_error *error);

#endif
