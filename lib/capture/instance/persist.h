/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance that goes on without the process that started it: pins it, opens it in another
 * process, and stops it. All parts of the instance are pinned in a folder (capture/bpffs/folder.h):
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
	gid_t group;		  /* group that may read the instance's files, or FOLDER_NO_GROUP */
	const char *command_line; /* the command line that started the instance */
	const struct number_list *pids; /* processes whose code gets unwind tables at the start;
					   empty = all processes */
	struct symbolizers *symbolizers;
};

/* Pins an attached capture in a folder that this process has made and not published yet, and
 * publishes the folder. After 0 the instance does not need this process any more. The instance is
 * complete before the call makes unwind tables, for at most a second. If this kernel refuses the
 * readable files (files.h), the instance goes on without files, and `files_refusal` has the reason;
 * else `files_refusal` is empty. */
int instance_persist(struct loaded *loaded, struct folder *folder,
		     const struct persist_options *options, struct stackmap_error *files_refusal,
		     struct stackmap_error *error);

/* Names of pins, at most PIN_BYTES with the NUL. */
#define PIN_BYTES 64
void pin_name_of_map(const char *map, char *pin);
void pin_name_of_program(u32 set, const char *program, char *pin);
void pin_name_of_table(u32 table, char *pin);
#define PIN_METADATA "map_metadata"
#define PIN_EVENTS "event_"

/* Opens an instance without a process from its pins. The caller frees *metadata after `loaded`,
 * which uses the sources of *metadata. *metadata may be set on failure, too. -EPROTO: another
 * version of stackmap started the instance. */
int instance_open(struct loaded *loaded, struct folder *folder, struct metadata **metadata,
		  struct stackmap_error *error);

/* Sets `error` for an instance that could not be opened, and returns `result`. */
int instance_set_open_error(struct folder *folder, int result, struct stackmap_error *error);

/* Ends an instance without a process: removes its locked folder, and returns when the kernel has
 * detached the programs of the instance; at the latest after a second, if another process still has
 * parts of the instance open. */
int instance_stop(struct folder *folder, struct stackmap_error *error);

#endif
