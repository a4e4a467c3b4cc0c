/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parent's side of a symbolizer (symbol/symbolizer/symbolizer.h): a list of jobs, of which the
 * first ones have been sent. The next job to send is chosen when the process can take one, so a job
 * that has become urgent meanwhile goes before others. Calls do not wait, except
 * symbolizer_client_await(). If a job is not answered in time, the process is ended, and a new
 * process gets the later jobs; the number of processes of an owner is limited.
 */
#ifndef LIB_SYMBOL_SYMBOLIZER_CLIENT_H
#define LIB_SYMBOL_SYMBOLIZER_CLIENT_H

#include <stdbool.h>

#include "privilege/file_worker.h"
#include "symbol/kernel/kernel_image.h"
#include "symbolizer.h"

struct symbolizer_job {
	u32 what; /* enum symbolizer_what */
	u32 number;
	u32 count;   /* number of addresses; SYMBOLIZER_MOVED: the process id */
	int file;    /* descriptor of a file with the addresses, or of the engine's map; or -1 */
	int code;    /* SYMBOLIZER_ANALYSIS: descriptor of the file to analyse; -1: the symbolizer
			opens it by its record */
	bool cached; /* find the file through the kernel's cache only, as in symbolizer_request */
	bool is_dropped; /* the answer is no longer wanted */
	bool wants_code; /* SYMBOLIZER_TABLE: if the table is partial, the answer brings the open
			    file */
	u64 next; /* owner whose process is asked next if this process does not find the file, or
		     FILE_OWNER_NONE */
	const struct mapping_record *record; /* record of the mapping; NULL = the kernel */
};

struct symbolizer_client {
	u64 owner; /* owner of the files that the process opens (symbol/file/mapped_file.h) */
	struct file_worker worker;
	int answers; /* epoll descriptor to which the process's socket is added; owned by the
			creator of the client */
	u32 sandbox; /* process id of the sandbox; 0 = not known */
	u32 starts;  /* number of processes started so far */
	struct symbolizer_job *jobs; /* the first `sent` of them have been sent to the process */
	u32 count, room, sent;
	u64 since;  /* ms: when the process began to work on the first job */
	bool hangs; /* the process has not finished its first job since requests for symbols were
		       dropped */
};

struct symbolizer_callbacks {
	void *arg;
	/* The known build id of a mapping, or NULL. */
	const struct build_id *(*id)(void *arg, u32 number);
	bool takes_turns; /* only one table is sent to a process at a time */
	/* Set by the caller. False: the client sends no jobs that read whole files, since it is the
	 * turn of another client. */
	bool may_read;
	/* How often events have missed the unwind table of a mapping: of two tables, or of two
	 * analyses, the more urgent one is sent first. */
	u32 (*urgency)(void *arg, u32 number);
	int kallsyms, modules;
	const struct kernel_copy *kernel_copy;
	/* Takes over the job. `answer` NULL: the process failed. `file`: symbols, or the open file
	 * of a partial table; or -1. The callback closes it. */
	int (*answered)(void *arg, struct symbolizer_client *client, struct symbolizer_job *job,
			const struct symbolizer_answer *answer, int file);
};

/* Starts the process; without this call the first job starts it. Best called early, while this
 * process has the privileges that a sandbox needs to become user nobody. 0; -EPIPE: too many
 * starts; -errno. */
int symbolizer_client_start(struct symbolizer_client *client);

/* Waits until the started process is ready: 0, or the reason of its failure. Call before any other
 * function but symbolizer_client_start(). */
int symbolizer_client_await(struct symbolizer_client *client);

/* Takes over a job, also on failure. Jobs for tables wait for all other jobs, and analyses wait for
 * tables. A process works on one table or analysis at a time; the process for tables of root's
 * files has several waiting in its socket. 0 or -ENOMEM. */
int symbolizer_client_submit(struct symbolizer_client *client, const struct symbolizer_job *job);

/* True if the process reads a whole file, which takes memory: symbols, a table or an analysis. */
bool symbolizer_client_reads_whole_file(const struct symbolizer_client *client);

/* Sends jobs and takes answers, without waiting. Returns the first error of callbacks->answered().
 */
int symbolizer_client_exchange(struct symbolizer_client *client,
			       const struct symbolizer_callbacks *callbacks);

/* Returns the time until the deadline of the first job, ms; -1: no job. */
int symbolizer_client_time_left(const struct symbolizer_client *client);

/* Ends the process and frees the jobs. `wait_ms` as for file_worker_end(). */
void symbolizer_client_end(struct symbolizer_client *client, int wait_ms);

void symbolizer_job_clear(struct symbolizer_job *job);

#endif
