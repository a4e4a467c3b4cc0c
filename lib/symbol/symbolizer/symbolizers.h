/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names and build ids for a recorder that must not block: each owner of files
 * (symbol/file/mapped_file.h) has a symbolizer process. A process that hangs or is busy delays only
 * the names of its owner's files; the kernel and root have processes of their own.
 *
 * A file that could not be read, or not in time, has no names and is counted.
 */
#ifndef LIB_SYMBOL_SYMBOLIZERS_H
#define LIB_SYMBOL_SYMBOLIZERS_H

#include <stdbool.h>

#include "mapping.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol_lookup.h"
#include "trace/event.h"

struct symbolizers;

/* Starts the symbolizer processes for files that user root owns (one each for names, for unwind
 * tables and for analyses) and the process for the kernel, and opens the kernel's files; best
 * called early. */
int symbolizers_create(struct symbolizers **out);

/* Waits until the symbolizer process for root is ready: 0, or the reason of its failure. Call
 * before all requests. */
int symbolizers_await_root_process(struct symbolizers *symbolizers);

/* Ends all processes, and waits at most 50 ms for each. */
void symbolizers_free(struct symbolizers **symbolizers);

const struct kernel_files *symbolizers_kernel_files(const struct symbolizers *symbolizers);

/* Gives the ids of all running processes and sandboxes, at most SYMBOLIZER_PROCESSES_MAX. */
#define SYMBOLIZER_PROCESSES_MAX 32
u32 symbolizers_processes(const struct symbolizers *symbolizers, u32 *pids);

/* Fills *mapping of a new mapping with what is known, and requests the mapping's build id; when it
 * is found later, sink->identified() is called. The record must stay unchanged as long as the
 * symbolizers exist; the same holds for all records below. */
void symbolizers_request_build_id(struct symbolizers *symbolizers, u32 number,
				  const struct mapping_record *record,
				  struct trace_mapping *mapping, char *path, size_t path_bytes);

/* Requests the unwind table of the mapping's file for the engine's map, once. If the file has much
 * code without a table, a second table with the rows of that code replaces the first one later. No
 * result is reported: without a table stacks are deferred. */
void symbolizers_request_unwind_table(struct symbolizers *symbolizers, u32 number,
				      const struct mapping_record *record, int map);

/* Notes that stacks of events have frames in the mapping, and how many user stacks end in its code,
 * or continue by a guess, because the code has no rule. Tables and analyses of files with such
 * frames are made before those of other files, the file with most such stacks first. */
void symbolizers_raise_table_urgency(struct symbolizers *symbolizers, u32 number, u64 stacks);

/* Lets the table of each file be requested once more: unused tables may have been evicted, and a
 * map that was full may have room. */
void symbolizers_allow_table_requests_again(struct symbolizers *symbolizers);

/* Requests that the symbolizer for the process's user compares copied code of the process
 * (moved_check.h) with the file of the record. The result goes to the engine's map. */
void symbolizers_request_code_comparison(struct symbolizers *symbolizers, u32 number, u32 tgid,
					 const struct mapping_record *record, int map);

/* Requests the symbols of a mapping that cover the addresses, which ascend; in user code they are
 * file offsets. Number 0: the kernel, which has no record. 0 or -ENOMEM. */
int symbolizers_request_symbols(struct symbolizers *symbolizers, u32 number,
				const struct mapping_record *record, const u64 *addresses,
				u32 count);

/* Takes over a copy of the kernel's list of symbols. The kernel's symbolizer reads the copy instead
 * of the list as long as the loaded modules are the same. */
void symbolizers_take_kernel_copy(struct symbolizers *symbolizers, struct kernel_copy copy);

/* Requests that the kernel's list of symbols is read before addresses are known. 0 or -ENOMEM. */
int symbolizers_request_kernel_names_early(struct symbolizers *symbolizers);

/* Callbacks for answers. symbolizers_exchange_messages() returns the first error of a callback. */
struct symbolizers_sink {
	void *arg;
	int (*identified)(void *arg, u32 number); /* called when the build id of a mapping from
						     symbolizers_request_build_id() is known */
	int (*symbol)(void *arg, const struct trace_symbol *symbol);
};

/* Gives the sink the cached symbols of a file, or the reported names of kernel code that comes and
 * goes. Addresses that have to be requested are moved to the front, and *count is their number. */
int symbolizers_find_cached_symbols(const struct symbolizers *symbolizers, u32 number,
				    u64 *addresses, u32 *count,
				    const struct symbolizers_sink *sink);

/* Sends requests and takes answers. Never waits. */
int symbolizers_exchange_messages(struct symbolizers *symbolizers,
				  const struct symbolizers_sink *sink);

/* True if requested symbols are missing: of the kernel; of the kernel, root's and our own files; or
 * of any code. A user whose process has hung since requests were dropped is left out, so a file
 * that does not answer is waited for once, and not in each window. */
enum symbolizers_which { SYMBOLIZERS_KERNEL, SYMBOLIZERS_TRUSTED, SYMBOLIZERS_ANY };
bool symbolizers_have_pending_symbols(const struct symbolizers *symbolizers,
				      enum symbolizers_which which);

/* Chooses the symbols to wait for at time `now`: symbols of other users' files until `others`,
 * symbols of root's and our own files until `own`, symbols of the kernel always. */
static inline enum symbolizers_which choose_symbols_to_wait_for(u64 now, u64 others, u64 own)
{
	if (now < others)
		return SYMBOLIZERS_ANY;
	return now < own ? SYMBOLIZERS_TRUSTED : SYMBOLIZERS_KERNEL;
}

/* True if the symbolizers have not yet delivered requested unwind tables, or requested rows from
 * the analysis of machine code. */
bool symbolizers_have_pending_tables(const struct symbolizers *symbolizers);
bool symbolizers_are_analysing(const struct symbolizers *symbolizers);

/* True if the table of a file, or its analysis, was requested and is not there yet. */
bool symbolizers_have_pending_table_of_mapping(const struct symbolizers *symbolizers, u32 number);

/* Returns a descriptor that is readable when an answer has come since the last
 * symbolizers_exchange_messages(). */
int symbolizers_answers_fd(const struct symbolizers *symbolizers);

/* Waits for the next answer or the next timeout of a job, at most `ms`. */
void symbolizers_wait(const struct symbolizers *symbolizers, int ms);

/* Drops all requests for symbols. The files of dropped requests count as unread. */
void symbolizers_drop_symbol_requests(struct symbolizers *symbolizers);

/* The number of tables with an interpreter's loop marked (abi/script.h) that the processes have
 * added. */
u32 symbolizers_script_loop_tables(const struct symbolizers *symbolizers);

/* True if the symbolizers have added a table of OpenJDK's libjvm, of V8's file or of Perl's: with
 * such a table the unwinder walks through the code that the virtual machine generates. */
bool symbolizers_can_leave_generated_code(const struct symbolizers *symbolizers);

/* The number of files that could not be read since the last call. */
u64 symbolizers_take_failures(struct symbolizers *symbolizers);

/* The files of one owner that could not be read: their number, and the path of one of them. */
struct symbolizers_trouble {
	u64 owner; /* owner of the files (symbol/file/mapped_file.h) */
	u64 files;
	char path[256];
};

/* Gives the next owner that has files which could not be read and that was not given before; false:
 * no more. */
bool symbolizers_next_slow_owner(struct symbolizers *symbolizers,
				 struct symbolizers_trouble *trouble);

#endif
