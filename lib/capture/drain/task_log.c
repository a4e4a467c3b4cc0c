/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bitmap by thread id (the kernel's limit is 4 M) has the threads that are in the file.
 *
 * A thread may exit between the end of a file and the scan of /proc for the next file, which has
 * its last events. The log therefore remembers the threads of the last file: one for each value of
 * the low bits of the thread id. The kernel hands out ids in order, so a thread is only replaced
 * after FORMER_THREADS newer ones.
 *
 * The task rings of CPUs are overwritten at different rates: the record of a fork may still be in
 * the ring of the parent's CPU when the record of the later execve is overwritten. The name in the
 * last record of a thread in a round is therefore compared with the name in the BPF map task_names,
 * or with the name in the record of the thread's exit.
 */
#include "capture/drain/task_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "array.h"
#include "capture/drain/cgroup_log.h"
#include "capture/load/proc_tasks.h"
#include "condition.h"
#include "order.h"

#define TID_LIMIT (4U << 20)
#define FORMER_THREADS (1U << 14) /* number of threads that are remembered; a power of two */

/* A record of a task ring that was read in this round. */
struct name_record {
	u64 time;
	u32 tid;
	u32 tgid;
	u64 cgroup;
	bool at_exit;
	char comm[16];
};

/* A thread as it was last written. */
struct former_thread {
	u64 time;
	u64 cgroup; /* the kernel's id of the cgroup; 0: unknown */
	u32 tid;
	u32 tgid;
	u32 file; /* number of the file that has the thread */
	char comm[16];
};

struct task_log {
	struct name_record *records;
	size_t record_count, record_room;
	struct task_log_options options;
	bool knows_interrupt;
	bool has_wanted; /* a task had one of the names in options.comms */
	struct cgroup_log *cgroups;
	u32 file; /* number of the current file */
	struct former_thread former[FORMER_THREADS];
	u64 known[TID_LIMIT / 64];
};

int task_log_create(const struct task_log_options *options, struct task_log **out)
{
	struct task_log *log = calloc(1, sizeof(*log));
	char *mount;
	int result;

	if (!log)
		return -ENOMEM;
	mount = cgroup_mount_find();
	result = cgroup_log_create(mount, &log->cgroups);
	free(mount);
	if (result) {
		free(log);
		return result;
	}
	cgroup_log_use_paths(log->cgroups, options->paths);
	log->options = *options;
	*out = log;
	return 0;
}

void task_log_begin_round(struct task_log *log)
{
	cgroup_log_begin_round(log->cgroups);
	log->record_count = 0;
}

bool task_log_has_wanted_name(const struct task_log *log)
{
	return log->has_wanted;
}

void task_log_free(struct task_log **log)
{
	cgroup_log_free(&(*log)->cgroups);
	free((*log)->records);
	free(*log);
	*log = NULL;
}

static bool is_thread_in_file(const struct task_log *log, u32 tid)
{
	return tid >= TID_LIMIT || log->known[tid / 64] >> (tid % 64) & 1;
}

static void mark_thread_in_file(struct task_log *log, u32 tid)
{
	if (tid < TID_LIMIT)
		log->known[tid / 64] |= 1ULL << (tid % 64);
}

/* Remembers a thread as it was written, unless a later record of the thread is remembered: records
 * of a thread come out of order if the thread has changed its CPU. */
static void keep_latest_record_of_thread(struct task_log *log, const struct trace_task *task)
{
	struct former_thread *former = &log->former[task->tid % FORMER_THREADS];
	bool is_same = former->tid == task->tid && former->file == log->file;

	if (is_same && former->time > task->time)
		return;
	*former = (struct former_thread){
		.time = task->time,
		.cgroup = cgroup_log_id_of_number(log->cgroups, task->cgroup),
		.tid = task->tid,
		.tgid = task->tgid,
		.file = log->file};
	memcpy(former->comm, task->comm, sizeof(former->comm));
}

static int write_task(struct task_log *log, struct trace_writer *writer,
		      const struct trace_task *task)
{
	const struct comm_globs *comms = log->options.comms;

	keep_latest_record_of_thread(log, task);
	log->has_wanted |= comms && comm_globs_match(comms, (const u8 *)task->comm);
	return trace_writer_task(writer, task);
}

static int write_proc_thread(struct task_log *log, struct trace_writer *writer, u32 tgid, u32 tid)
{
	struct trace_task task = {.tid = tid, .tgid = tgid};
	char path[PATH_MAX];
	int result = 0;

	if (is_thread_in_file(log, tid) || !proc_task_comm(tgid, tid, task.comm))
		return 0;
	mark_thread_in_file(log, tid);
	if (proc_task_cgroup(tgid, tid, path))
		result = cgroup_log_write_and_number_by_path(log->cgroups, writer, path,
							     &task.cgroup);
	return result ?: write_task(log, writer, &task);
}

struct scan {
	struct task_log *log;
	struct trace_writer *writer;
};

static int write_scanned_thread(void *arg, u32 tgid, u32 tid)
{
	struct scan *scan = arg;

	return write_proc_thread(scan->log, scan->writer, tgid, tid);
}

int task_log_begin_file_and_scan_threads(struct task_log *log, struct trace_writer *writer,
					 u32 only)
{
	struct scan scan = {.log = log, .writer = writer};
	struct trace_task zero = {};
	int result;

	log->file++;
	strcpy(zero.comm, log->options.zero);
	cgroup_log_begin_file(log->cgroups);
	result = cgroup_log_write_and_number_by_path(log->cgroups, writer, "/", &zero.cgroup)
			 ?: trace_writer_task(writer, &zero);
	memset(log->known, 0, sizeof(log->known));
	log->knows_interrupt = false;
	mark_thread_in_file(log, 0);
	if (result || log->options.ignores_proc)
		return result;
	return only ? write_proc_thread(log, writer, only, only)
		    : proc_tasks_each(write_scanned_thread, &scan);
}

static int append_name_record(struct task_log *log, const struct task_slot *slot, u64 time)
{
	struct name_record *record;

	if (array_make_room(log->records, log->record_count, log->record_room))
		return -ENOMEM;
	record = &log->records[log->record_count++];
	*record = (struct name_record){.time = time,
				       .tid = slot->tid,
				       .tgid = slot->tgid,
				       .cgroup = slot->cgroup,
				       .at_exit = STAMP_KIND(slot->stamp) == TASK_EXIT};
	memcpy(record->comm, slot->comm, sizeof(record->comm) - 1);
	return 0;
}

int task_log_take_record(struct task_log *log, struct trace_writer *writer,
			 const struct task_slot *slot, u64 time)
{
	struct trace_task task = {.time = time, .tid = slot->tid, .tgid = slot->tgid};
	int result = append_name_record(log, slot, time);

	if (result)
		return result;
	/* The record of a thread's exit has the thread's last name. */
	if (STAMP_KIND(slot->stamp) == TASK_EXIT) {
		if (is_thread_in_file(log, task.tid))
			return 0;
		task.time = 0;
	}
	memcpy(task.comm, slot->comm, sizeof(task.comm));
	task.comm[sizeof(task.comm) - 1] = 0;
	mark_thread_in_file(log, task.tid);
	result =
		cgroup_log_write_and_number_by_id(log->cgroups, writer, slot->cgroup, &task.cgroup);
	return result ?: write_task(log, writer, &task);
}

static bool read_name_from_map(const struct task_log *log, u32 tid, struct task_name *name)
{
	if (log->options.names_fd < 0 || bpf_map_lookup_elem(log->options.names_fd, &tid, name))
		return false;
	name->comm[sizeof(name->comm) - 1] = 0;
	return true;
}

static int write_name_from_map(struct task_log *log, struct trace_writer *writer,
			       const struct task_name *name, struct trace_task *task)
{
	int result = cgroup_log_write_and_number_by_id(log->cgroups, writer, name->cgroup,
						       &task->cgroup);

	memcpy(task->comm, name->comm, sizeof(task->comm));
	mark_thread_in_file(log, task->tid);
	return result ?: write_task(log, writer, task);
}

static int compare_name_records(const void *left, const void *right)
{
	const struct name_record *a = left, *b = right;

	return order(a->tid, b->tid) ?: order(a->time, b->time);
}

/* Compares the records of one thread, which are sorted by time, with the name that the thread has
 * now, or had at its exit, and writes a name whose record was lost. The time of the change is not
 * known; mostly the change is an execve directly after a fork, so the name counts from the time of
 * the record before. */
static int write_final_name_if_lost(struct task_log *log, struct trace_writer *writer,
				    const struct name_record *first, const struct name_record *last)
{
	const struct name_record *before = last->at_exit && last > first ? last - 1 : last;
	struct trace_task task = {
		.time = before->time + 1, .tid = before->tid, .tgid = before->tgid};
	struct task_name name = {.cgroup = last->cgroup};

	if (last->at_exit)
		memcpy(name.comm, last->comm, sizeof(name.comm));
	else if (!read_name_from_map(log, last->tid, &name))
		return 0;
	if (!strcmp((char *)name.comm, before->comm))
		return 0;
	return write_name_from_map(log, writer, &name, &task);
}

int task_log_write_lost_names(struct task_log *log, struct trace_writer *writer)
{
	const struct name_record *record = log->records, *end = record + log->record_count,
				 *first = record;
	int result = 0;

	if (record)
		qsort(log->records, log->record_count, sizeof(*log->records), compare_name_records);
	for (; record < end && !result; record++) {
		if (record + 1 < end && record[1].tid == record->tid)
			continue;
		result = write_final_name_if_lost(log, writer, first, record);
		first = record + 1;
	}
	return result;
}

static int write_interrupt_task(struct task_log *log, struct trace_writer *writer)
{
	struct trace_task interrupt = {
		.tid = TID_INTERRUPT, .tgid = TID_INTERRUPT, .comm = TID_INTERRUPT_NAME};

	if (log->knows_interrupt)
		return 0;
	log->knows_interrupt = true;
	return cgroup_log_write_and_number_by_path(log->cgroups, writer, "/", &interrupt.cgroup)
		       ?: trace_writer_task(writer, &interrupt);
}

/* Writes a thread that was in the last file and has exited since. */
static int write_exited_thread_of_last_file(struct task_log *log, struct trace_writer *writer,
					    u32 tid)
{
	const struct former_thread former = log->former[tid % FORMER_THREADS];
	struct trace_task task = {.tid = tid, .tgid = former.tgid};
	int result;

	if (former.tid != tid || former.file + 1 != log->file)
		return 0;
	memcpy(task.comm, former.comm, sizeof(task.comm));
	mark_thread_in_file(log, tid);
	result = cgroup_log_write_and_number_by_id(log->cgroups, writer, former.cgroup,
						   &task.cgroup);
	return result ?: write_task(log, writer, &task);
}

int task_log_ensure_thread(struct task_log *log, struct trace_writer *writer, u32 tid)
{
	struct trace_task ended = {.tid = tid}; /* the process id of an ended thread is not known */
	struct task_name name;
	u32 tgid;
	int result = 0;

	if (tid == TID_INTERRUPT)
		return write_interrupt_task(log, writer);
	if (is_thread_in_file(log, tid))
		return 0;
	tgid = log->options.ignores_proc ? 0 : proc_task_process_id(tid);
	if (tgid)
		result = write_proc_thread(log, writer, tgid, tid);
	if (result || is_thread_in_file(log, tid))
		return result;
	return read_name_from_map(log, tid, &name)
		       ? write_name_from_map(log, writer, &name, &ended)
		       : write_exited_thread_of_last_file(log, writer, tid);
}
