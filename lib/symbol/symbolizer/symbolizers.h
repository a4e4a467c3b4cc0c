/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names and build ids for a recorder that may not wait for anybody: a symbolizer process for each
 * owner of files (symbol/file/file_owner.h). One that hangs, or has much to do, delays and costs
 * the names of its owner's files only; those of the kernel and of root have their own.
 *
 * A file that did not answer, or was not read in time, has no names and is counted.
 */
#ifndef LIB_SYMBOL_SYMBOLIZERS_H
#define LIB_SYMBOL_SYMBOLIZERS_H

#include <stdbool.h>

#include "mapping.h"
#include "symbol/kernel/kernel_files.h"
#include "symbol_lookup.h"
#include "trace/event.h"

struct symbolizers;

/* Best early: those of root and of the kernel are started here, and the kernel's files are opened.
 */
int symbolizers_create(struct symbolizers **out);

/* Before anything is asked: waits until root's says that it is ready, or why not. */
int symbolizers_await(struct symbolizers *symbolizers);

/* Waits for no process but for a moment. */
void symbolizers_free(struct symbolizers **symbolizers);

const struct kernel_files *symbolizers_kernel_files(const struct symbolizers *symbolizers);

/* Processes that run for us: their ids; at most SYMBOLIZER_PROCESSES_MAX. */
#define SYMBOLIZER_PROCESSES_MAX 32
u32 symbolizers_processes(const struct symbolizers *symbolizers, u32 *pids);

/* The record is one of a mapping that the file has now; it stays as it is while this lives. Fills
 * *mapping as far as it is known by now; what is found later goes to the sink. */
void symbolizers_identify(struct symbolizers *symbolizers, u32 number,
			  const struct mapping_record *record, struct trace_mapping *mapping,
			  char *path, size_t path_bytes);

/* Has the unwind table of the mapping's file put into the engine's map, once; the record as above.
 * If the file has much code without a table, a second table with the rows of that code takes the
 * place of the first one later. What becomes of it nobody tells: without it stacks are deferred. */
void symbolizers_tabulate(struct symbolizers *symbolizers, u32 number,
			  const struct mapping_record *record, int map);

/* From now on each is asked for once more: tables go when nobody has used them for long, and where
 * there was no room there may be some. */
void symbolizers_tabulate_again(struct symbolizers *symbolizers);

/* Has moved code (moved_check.h) of a process compared with the file of this record, by who reads
 * the process's memory; the record as above. What it is stands in the engine's map then. */
void symbolizers_compare(struct symbolizers *symbolizers, u32 number, u32 tgid,
			 const struct mapping_record *record, int map);

struct symbolizers_query {
	u32 number;			     /* 0: the kernel, no record */
	const struct mapping_record *record; /* as above */
	const u64 *addresses;		     /* ascending; user code: file offsets */
	u32 count;
};

/* Asks for the symbols that cover an address. -ENOMEM. */
int symbolizers_ask(struct symbolizers *symbolizers, const struct symbolizers_query *query);

/* Has the kernel's list of symbols read before its symbols are asked for. -ENOMEM. */
int symbolizers_ask_kernel_ahead(struct symbolizers *symbolizers);

/* Where answers go; the first error ends it and is returned. */
struct symbolizers_sink {
	void *arg;
	int (*identified)(void *arg, u32 number); /* symbolizers_identify() knows more of it now */
	int (*symbol)(void *arg, const struct trace_symbol *symbol);
};

/* Gives the sink what was answered before of a file; *count: the addresses that are to be asked
 * for, which stand first then. */
int symbolizers_recall(const struct symbolizers *symbolizers, u32 number, u64 *addresses,
		       u32 *count, const struct symbolizers_sink *sink);

/* Takes what has been answered. Never waits. */
int symbolizers_visit(struct symbolizers *symbolizers, const struct symbolizers_sink *sink);

/* Whether symbols are still to come: of the kernel, of the kernel and of root's and our own files,
 * or of any. */
enum symbolizers_which { SYMBOLIZERS_KERNEL, SYMBOLIZERS_TRUSTED, SYMBOLIZERS_ANY };
bool symbolizers_are_busy(const struct symbolizers *symbolizers, enum symbolizers_which which);

/* Whose symbols are waited for at a time, if those of others' files are waited for until `others`,
 * and those of root's and our own until `own`. */
static inline enum symbolizers_which symbolizers_awaited(u64 now, u64 others, u64 own)
{
	if (now < others)
		return SYMBOLIZERS_ANY;
	return now < own ? SYMBOLIZERS_TRUSTED : SYMBOLIZERS_KERNEL;
}

/* Whether tables are still to come, and whether rows of analysed code are. */
bool symbolizers_are_tabulating(const struct symbolizers *symbolizers);
bool symbolizers_are_analysing(const struct symbolizers *symbolizers);

/* Waits until something has been answered, or is too late, but no longer than `ms`. */
void symbolizers_wait(const struct symbolizers *symbolizers, int ms);

/* Symbols that were not answered yet are not wanted any more; their files count as unread. */
void symbolizers_drop(struct symbolizers *symbolizers);

/* Files that could not be read, since the last call. */
u64 symbolizers_failures(struct symbolizers *symbolizers);

/* What there is to tell of an owner: how many files, and one of them. */
struct symbolizers_trouble {
	u64 owner; /* symbol/file/file_owner.h */
	u64 files;
	char path[256];
};

/* The next owner with trouble that was not reported yet; false: there is none. */
bool symbolizers_tell(struct symbolizers *symbolizers, struct symbolizers_trouble *trouble);

#endif
