/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account of a living thread ends at time_end, the end of the recording; or some ns later if a
 * program had read the clock before time_end was set.
 */
#include "capture/drain/thread_times.h"

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/skeleton.h"
#include "error.h"

static int write_thread_time_account(struct recording *recording,
				     const struct thread_account *account)
{
	int result = account->tid ? task_log_ensure_thread(recording->tasks, recording->writer,
							   account->tid)
				  : 0;

	return result ?: trace_writer_thread_account(recording->writer, account);
}

static int write_ended_time_account(void *arg, void *data, size_t bytes)
{
	struct recording *recording = arg;
	const struct thread_account *account = data;
	int result = bytes < sizeof(*account) ? 0 : write_thread_time_account(recording, account);

	recording->times_result = first_error(recording->times_result, result);
	return 0;
}

int thread_times_create(struct recording *recording)
{
	int fd = bpf_map__fd(loaded_programs(recording->loaded)->maps.ended_times);

	recording->times = ring_buffer__new(fd, write_ended_time_account, recording, NULL);
	return recording->times ? 0 : -errno;
}

void thread_times_free(struct recording *recording)
{
	ring_buffer__free(recording->times);
	recording->times = NULL;
}

int thread_times_write_ended(struct recording *recording)
{
	int taken;

	recording->times_result = 0;
	taken = ring_buffer__consume(recording->times);
	return first_error(recording->times_result, taken < 0 ? taken : 0);
}

/* Writes the event of a wait as bpf/event/thread_time.h does, without a kernel stack. */
static void record_wait_event(struct loaded *loaded, const struct thread_time *time, u32 state,
			      u64 begin, u64 end)
{
	u32 kind = loaded->plan.config.time_kinds[state];
	u32 user_state = BLOCKED_STATE(time->from.user);
	const struct event_slot event = {
		.tid = time->account.tid,
		.stamp = STAMP_OF(end, kind, EVENT_FLAGS(STATE_NONE, user_state)),
		.kernel = REASON_UNREADABLE,
		.user = BLOCKED_FIELD(time->from.user)};

	if (kind != TIME_KIND_NONE)
		loaded_write_event(loaded, &event, end - begin);
}

/* Iterates over the keys of the BPF map thread_times. The programs are detached, so the loop sees
 * each thread once. */
#define for_each_time(map_fd, key, before)                                                         \
	for (; !bpf_map_get_next_key(map_fd, before, &(key)); before = &(key))

void thread_times_record_unseen_waits(struct loaded *loaded)
{
	struct capture_bpf *programs = loaded_programs(loaded);
	int map_fd = bpf_map__fd(programs->maps.thread_times);
	u64 end = programs->bss->time_end, key, *before = NULL;

	if (!end)
		return;
	for_each_time(map_fd, key, before)
	{
		struct thread_time time;
		u64 since;

		if (bpf_map_lookup_elem(map_fd, &key, &time) || time.is_recorded ||
		    time.state == TIME_RUNNING || time.state >= TIME_STATES)
			continue;
		since = time.from.since;
		if (time.blocked_since && time.blocked_state < TIME_STATES)
			record_wait_event(loaded, &time, time.blocked_state, time.blocked_since,
					  since);
		record_wait_event(loaded, &time, time.state, since, since < end ? end : since);
		programs->bss->unfinished_waits++;
	}
}

static int write_open_accounts(struct recording *recording, int map_fd, u64 end)
{
	u64 key, *before = NULL;
	int result = 0;

	for_each_time(map_fd, key, before)
	{
		struct thread_time time;

		if (bpf_map_lookup_elem(map_fd, &key, &time) || time.state >= TIME_STATES)
			continue;
		if (time.from.since < end) {
			time.account.spent[time.state] += end - time.from.since;
			time.from.since = end;
		}
		time.account.end = time.from.since;
		result = first_error(result, write_thread_time_account(recording, &time.account));
	}
	return result;
}

int thread_times_write_open(struct recording *recording)
{
	struct capture_bpf *programs = loaded_programs(recording->loaded);
	const struct time_rest *rest = (void *)&programs->bss->time_rest;
	struct thread_account account;
	int result = thread_times_write_ended(recording);

	if (!programs->bss->time_end)
		return result;
	result = first_error(result, write_open_accounts(recording,
							 bpf_map__fd(programs->maps.thread_times),
							 programs->bss->time_end));
	account = (struct thread_account){.begin = programs->bss->time_begin,
					  .end = programs->bss->time_begin + rest->life};
	for (u32 state = 0; state < TIME_STATES; state++)
		account.spent[state] = rest->spent[state];
	return rest->threads ? first_error(result, write_thread_time_account(recording, &account))
			     : result;
}
