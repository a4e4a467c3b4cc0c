/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bit for each thread id (the kernel's limit is 4 M) notes the threads that are in the file.
 *
 * The rings of CPUs are overwritten at different rates: the record of a fork may still be in the
 * ring of the parent's CPU when the record of the later execve is overwritten. The last record of a
 * thread in a round is therefore compared with the name in the map, or with the name at its end.
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

/* A record that this round has read. */
struct name_record {
	u64 time;
	u32 tid;
	u32 tgid;
	u64 cgroup;
	bool at_exit;
	char comm[16];
};

struct task_log {
	struct name_record *records;
	size_t record_count, record_room;
	struct task_log_options options;
	bool knows_interrupt;
	bool has_wanted; /* a task had a name of options.comms */
	struct cgroup_log *cgroups;
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

void task_log_round(struct task_log *log)
{
	cgroup_log_round(log->cgroups);
	log->record_count = 0;
}

bool task_log_has_wanted(const struct task_log *log)
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

static bool is_known(const struct task_log *log, u32 tid)
{
	return tid >= TID_LIMIT || log->known[tid / 64] >> (tid % 64) & 1;
}

static void set_known(struct task_log *log, u32 tid)
{
	if (tid < TID_LIMIT)
		log->known[tid / 64] |= 1ULL << (tid % 64);
}

static int write_task(struct task_log *log, struct trace_writer *writer,
		      const struct trace_task *task)
{
	const struct comm_globs *comms = log->options.comms;

	log->has_wanted |= comms && comm_globs_match(comms, (const u8 *)task->comm);
	return trace_writer_task(writer, task);
}

static int write_found(struct task_log *log, struct trace_writer *writer, u32 tgid, u32 tid)
{
	struct trace_task task = {.tid = tid, .tgid = tgid};
	char path[PATH_MAX];
	int result = 0;

	if (is_known(log, tid) || !proc_task_comm(tgid, tid, task.comm))
		return 0;
	set_known(log, tid);
	if (proc_task_cgroup(tgid, tid, path))
		result = cgroup_log_path(log->cgroups, writer, path, &task.cgroup);
	return result ?: write_task(log, writer, &task);
}

struct scan {
	struct task_log *log;
	struct trace_writer *writer;
};

static int scan_thread(void *arg, u32 tgid, u32 tid)
{
	struct scan *scan = arg;

	return write_found(scan->log, scan->writer, tgid, tid);
}

static int scan(struct task_log *log, struct trace_writer *writer, u32 only)
{
	struct scan scan = {.log = log, .writer = writer};

	return only ? write_found(log, writer, only, only) : proc_tasks_each(scan_thread, &scan);
}

int task_log_scan(struct task_log *log, struct trace_writer *writer, u32 only)
{
	struct trace_task zero = {};
	int result;

	strcpy(zero.comm, log->options.zero);
	cgroup_log_begin(log->cgroups);
	result = cgroup_log_path(log->cgroups, writer, "/", &zero.cgroup)
			 ?: trace_writer_task(writer, &zero);
	memset(log->known, 0, sizeof(log->known));
	log->knows_interrupt = false;
	set_known(log, 0);
	return result || log->options.ignores_proc ? result : scan(log, writer, only);
}

static int keep_record(struct task_log *log, const struct task_slot *slot, u64 time)
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

int task_log_record(struct task_log *log, struct trace_writer *writer, const struct task_slot *slot,
		    u64 time)
{
	struct trace_task task = {.time = time, .tid = slot->tid, .tgid = slot->tgid};
	int result = keep_record(log, slot, time);

	if (result)
		return result;
	if (STAMP_KIND(slot->stamp) == TASK_EXIT) { /* the last name of the thread */
		if (is_known(log, task.tid))
			return 0;
		task.time = 0;
	}
	memcpy(task.comm, slot->comm, sizeof(task.comm));
	task.comm[sizeof(task.comm) - 1] = 0;
	set_known(log, task.tid);
	result = cgroup_log_id(log->cgroups, writer, slot->cgroup, &task.cgroup);
	return result ?: write_task(log, writer, &task);
}

static bool is_kept(const struct task_log *log, u32 tid, struct task_name *name)
{
	if (log->options.names_fd < 0 || bpf_map_lookup_elem(log->options.names_fd, &tid, name))
		return false;
	name->comm[sizeof(name->comm) - 1] = 0;
	return true;
}

static int write_kept(struct task_log *log, struct trace_writer *writer,
		      const struct task_name *name, struct trace_task *task)
{
	int result = cgroup_log_id(log->cgroups, writer, name->cgroup, &task->cgroup);

	memcpy(task->comm, name->comm, sizeof(task->comm));
	set_known(log, task->tid);
	return result ?: write_task(log, writer, task);
}

static int compare_records(const void *left, const void *right)
{
	const struct name_record *a = left, *b = right;

	return order(a->tid, b->tid) ?: order(a->time, b->time);
}

/* The name that a thread has, or had at its end. */
static bool find_final_name(const struct task_log *log, const struct name_record *last,
			    struct task_name *name)
{
	if (!last->at_exit)
		return is_kept(log, last->tid, name);
	*name = (struct task_name){.cgroup = last->cgroup};
	memcpy(name->comm, last->comm, sizeof(name->comm));
	return true;
}

/* Writes a name whose record was lost. The time of the change is not known; mostly an execve
 * follows a fork. */
static int write_lost(struct task_log *log, struct trace_writer *writer,
		      const struct name_record *before, const struct name_record *last)
{
	struct trace_task task = {
		.time = before->time + 1, .tid = before->tid, .tgid = before->tgid};
	struct task_name name;

	if (!find_final_name(log, last, &name) || !strcmp((char *)name.comm, before->comm))
		return 0;
	return write_kept(log, writer, &name, &task);
}

/* Compares the records of one thread, which are in order, with its final name. */
static int compare_last(struct task_log *log, struct trace_writer *writer,
			const struct name_record *first, const struct name_record *last)
{
	const struct name_record *before = last;

	if (before->at_exit && before > first)
		before--;
	return write_lost(log, writer, before, last);
}

int task_log_lost(struct task_log *log, struct trace_writer *writer)
{
	const struct name_record *record = log->records, *end = record + log->record_count,
				 *first = record;
	int result = 0;

	if (record)
		qsort(log->records, log->record_count, sizeof(*log->records), compare_records);
	for (; record < end && !result; record++) {
		if (record + 1 < end && record[1].tid == record->tid)
			continue;
		result = compare_last(log, writer, first, record);
		first = record + 1;
	}
	return result;
}

static int name_interrupt(struct task_log *log, struct trace_writer *writer)
{
	struct trace_task interrupt = {
		.tid = TID_INTERRUPT, .tgid = TID_INTERRUPT, .comm = TID_INTERRUPT_NAME};

	if (log->knows_interrupt)
		return 0;
	log->knows_interrupt = true;
	return cgroup_log_path(log->cgroups, writer, "/", &interrupt.cgroup)
		       ?: trace_writer_task(writer, &interrupt);
}

int task_log_need(struct task_log *log, struct trace_writer *writer, u32 tid)
{
	struct trace_task ended = {.tid = tid}; /* the process is not known */
	struct task_name name;
	u32 tgid;

	if (tid == TID_INTERRUPT)
		return name_interrupt(log, writer);
	if (is_known(log, tid))
		return 0;
	tgid = log->options.ignores_proc ? 0 : proc_task_process(tid);
	if (tgid)
		return write_found(log, writer, tgid, tid);
	return is_kept(log, tid, &name) ? write_kept(log, writer, &name, &ended) : 0;
}
