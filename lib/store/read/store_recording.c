/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger is asked for first: whether there are rows more than once decides how all others are
 * read. */
#include "store/read/store_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "store/read/placed_code.h"
#include "text_list.h"
#include "trace/write/memory_recording.h"

#define NS_PER_SECOND 1000000000ULL
#define TEXT_BYTES 512
#define REPEATS_MAX UINT32_MAX

/* All that was answered. */
struct answer {
	struct selection selection;
	struct store_account account;
	struct store_counts counts;
	struct store_code code;
};

static void answer_clear(struct answer *answer)
{
	selection_clear(&answer->selection);
	store_account_clear(&answer->account);
	store_counts_clear(&answer->counts);
	store_code_clear(&answer->code);
}

static int ask_once(struct shards *shards, const struct store_question *question,
		    struct answer *answer, struct stackmap_error *error)
{
	return selection_make(shards, question, &answer->selection, error)
		       ?: store_account_read(shards, question, &answer->selection, &answer->account,
					     error)
		       ?: store_counts_read(shards, question, &answer->selection, &answer->counts,
					    error)
		       ?: store_code_read(shards, question, &answer->counts, &answer->code, error);
}

static bool any_is_there(const struct shards *shards)
{
	for (u32 i = 0; i < shards_count(shards); i++)
		if (!shards_away(shards, i))
			return true;
	return false;
}

/* Each time one more server is away. */
static int ask(struct shards *shards, const struct store_question *question, struct answer *answer,
	       struct stackmap_error *error)
{
	int err = ask_once(shards, question, answer, error);

	while (err == SHARD_WENT && any_is_there(shards)) {
		answer_clear(answer);
		err = ask_once(shards, question, answer, error);
	}
	return err;
}

/* --- the recording --- */

struct thread {
	struct intern_key key; /* comm, cgroup: numbers */
	u32 tid;
};

struct writing {
	const struct answer *answer;
	struct trace_writer *writer;
	struct placed_code *code;
	struct intern threads;
	struct text_set *events; /* by kind */
	u32 *kinds;		 /* by number of the event in the answer */
	u32 *cgroups;		 /* numbers in the recording + 1, by number; 0: not made yet */
	struct trace_ledger ledger;
};

/* The unit of an event's values is not stored: it is known by the event's name. */
static const char *unit_of(const char *event, bool has_value)
{
	static const char *const in_ns[] = {"offcpu-", "sched:sched_stat_"};

	for (u32 i = 0; i < sizeof(in_ns) / sizeof(*in_ns); i++)
		if (!strncmp(event, in_ns[i], strlen(in_ns[i])))
			return "ns";
	return has_value ? "value" : "";
}

static int by_name(const void *a, const void *b, void *names)
{
	const char *const *texts = names;

	return strcmp(texts[*(const u32 *)a], texts[*(const u32 *)b]);
}

/* New names by the alphabet, so that equal answers are equal recordings. */
static int number_kinds(struct writing *writing)
{
	const struct text_set *events = &writing->answer->counts.events;
	u32 *sorted = calloc(events->count + 1UL, sizeof(*sorted));

	writing->kinds = calloc(events->count + 1UL, sizeof(*writing->kinds));
	if (!sorted || !writing->kinds) {
		free(sorted);
		return -ENOMEM;
	}
	for (u32 i = 0; i < events->count; i++)
		sorted[i] = i;
	qsort_r(sorted, events->count, sizeof(*sorted), by_name, events->texts);
	for (u32 i = 0; i < events->count; i++)
		writing->kinds[sorted[i]] =
			text_set_number(writing->events, events->texts[sorted[i]]);
	free(sorted);
	return 0;
}

/* By kind. */
static bool has_values(const struct writing *writing, u32 kind)
{
	const struct store_counts *counts = &writing->answer->counts;

	for (u32 i = 0; i < counts->count; i++)
		if (writing->kinds[counts->counts[i].event] == kind && counts->counts[i].value)
			return true;
	return false;
}

static int write_sources(struct writing *writing)
{
	int err = number_kinds(writing);

	for (u32 i = 0; i < writing->events->count && !err; i++) {
		const char *name = writing->events->texts[i];
		const char *unit = unit_of(name, has_values(writing, i));
		const struct trace_source source = {
			.name = name,
			.extras = TRACE_EXTRA_LEAF | (*unit ? TRACE_EXTRA_VALUE : 0),
			.value_unit = unit,
		};

		err = trace_writer_source(writing->writer, &source);
	}
	return err;
}

/* 0: not known. */
static int cgroup_number(struct writing *writing, u32 cgroup, u32 *number)
{
	const char *path = writing->answer->counts.cgroups.count
				   ? writing->answer->counts.cgroups.texts[cgroup]
				   : "";
	const struct trace_cgroup record = {.path = path};
	int err;

	*number = 0;
	if (!*path)
		return 0;
	if (!writing->cgroups[cgroup]) {
		err = trace_writer_cgroup(writing->writer, &record, &writing->cgroups[cgroup]);
		if (err)
			return err;
	}
	*number = writing->cgroups[cgroup];
	return 0;
}

static int write_thread(struct writing *writing, const struct thread *thread)
{
	const char *comm = writing->answer->counts.comms.texts[thread->key.word[0]];
	struct trace_task task = {.tid = thread->tid, .tgid = thread->tid};
	int err = cgroup_number(writing, (u32)thread->key.word[1], &task.cgroup);

	if (err || (!*comm && !task.cgroup))
		return err;
	snprintf(task.comm, sizeof(task.comm), "%s", comm);
	return trace_writer_task(writing->writer, &task);
}

static int thread_of(struct writing *writing, const struct store_count *count, u32 *tid)
{
	const struct intern_key key = {.word = {count->comm, count->cgroup}};
	struct thread *thread = intern_entry(&writing->threads, &key);
	int err = thread ? 0 : -ENOMEM;

	if (!err && !thread->tid) {
		thread->tid = writing->threads.count;
		err = write_thread(writing, thread);
	}
	if (!err)
		*tid = thread->tid;
	return err;
}

static void account_sides(struct trace_ledger *ledger, const struct placed_stack *stack, u64 count)
{
	if (stack->kernel == TRACE_NO_STACK)
		ledger->kernel_reasons[stack->kernel_reason] += count;
	if (stack->user == TRACE_NO_STACK)
		ledger->user_reasons[stack->user_reason] += count;
	else if (stack->user_flags & STACK_TRUNCATED)
		ledger->user_stops[STOP_DEPTH] += count;
	else if (STACK_STOP(stack->user_flags))
		ledger->user_stops[STACK_STOP(stack->user_flags)] += count;
	else
		ledger->user_stops[STOP_ROOT] += count;
}

/* An event stands for 2^32 at most; the first has the values of all. */
static int write_event(struct writing *writing, const struct store_count *count)
{
	const struct placed_stack *stack;
	struct trace_event event = {.kind = (u16)writing->kinds[count->event],
				    .time = count->time * NS_PER_SECOND,
				    .value = count->value};
	u64 left = count->count;
	int err = placed_code_stack(writing->code, count->stack, &stack)
			  ?: thread_of(writing, count, &event.tid);

	if (err)
		return err;
	event.leaf = stack->leaf;
	event.kernel = stack->kernel;
	event.user = stack->user;
	event.kernel_reason = stack->kernel_reason;
	event.user_reason = stack->user_reason;
	account_sides(&writing->ledger, stack, left);
	while (left && !err) {
		event.repeats = (u32)(left - 1 < REPEATS_MAX ? left - 1 : REPEATS_MAX);
		err = trace_writer_event(writing->writer, &event);
		left -= 1 + (u64)event.repeats;
		event.value = 0;
	}
	return err;
}

static int write_ledger(struct writing *writing)
{
	const struct store_account *account = &writing->answer->account;

	writing->ledger.produced = account->produced;
	writing->ledger.recorded = account->recorded;
	memcpy(writing->ledger.lost, account->lost, sizeof(account->lost));
	return trace_writer_ledger(writing->writer, &writing->ledger, NULL, 0);
}

static int write_all(struct writing *writing)
{
	const struct store_counts *counts = &writing->answer->counts;
	int err = write_sources(writing);

	for (u32 i = 0; i < counts->count && !err; i++)
		err = write_event(writing, &counts->counts[i]);
	return err ?: write_ledger(writing);
}

static int write_answer(const struct answer *answer, const struct store_recording_request *request,
			struct trace_writer *writer)
{
	struct text_set own = TEXT_SET;
	struct writing writing = {.answer = answer,
				  .writer = writer,
				  .threads = INTERN(struct thread),
				  .events = request->events ?: &own};
	int err = placed_code_create(&answer->code, request->question.no_inlined, writer,
				     &writing.code);

	writing.cgroups = calloc(answer->counts.cgroups.count + 1UL, sizeof(*writing.cgroups));
	if (!err && !writing.cgroups)
		err = -ENOMEM;
	err = err ?: write_all(&writing);
	placed_code_free(&writing.code);
	intern_clear(&writing.threads);
	free(writing.cgroups);
	free(writing.kinds);
	text_set_clear(&own);
	return err;
}

/* --- what it says of itself --- */

struct texts {
	char hosts[TEXT_BYTES], kernel[TEXT_BYTES], machine[TEXT_BYTES];
};

static void describe(const struct store_account *account, struct texts *texts,
		     struct trace_info *info)
{
	for (u32 i = 0; i < account->count; i++) {
		const struct store_host *host = &account->hosts[i];

		text_list_add(texts->kernel, TEXT_BYTES, host->kernel ?: "");
		text_list_add(texts->machine, TEXT_BYTES, host->machine ?: "");
		info->cpus += host->cpus;
	}
	if (account->count == 1)
		text_list_add(texts->hosts, TEXT_BYTES, account->hosts[0].name);
	else
		snprintf(texts->hosts, TEXT_BYTES, "%u hosts", account->count);
	info->hostname = texts->hosts;
	info->kernel = texts->kernel;
	info->machine = texts->machine;
}

static int write_recording(const struct store_recording_request *request,
			   const struct answer *answer, struct trace_reader **reader,
			   struct stackmap_error *error)
{
	struct texts texts = {};
	struct trace_info info = {
		.start_realtime = request->question.from * NS_PER_SECOND,
		.start_monotonic = request->question.from * NS_PER_SECOND,
		.bits = 64,
		.address_shown = 1,
		.is_summary = 1,
		.command = request->description,
		.version = request->version,
	};
	struct memory_recording recording;
	int err;

	describe(&answer->account, &texts, &info);
	err = memory_recording_begin(&recording, request->name, &info, error);
	if (err)
		return err;
	err = write_answer(answer, request, recording.writer);
	if (!err)
		return memory_recording_end(&recording, reader, error);
	memory_recording_discard(&recording);
	return error_set(error, -err, "%s: %s", request->name, strerror(-err));
}

int store_recording_open(struct shards *shards, const struct store_recording_request *request,
			 struct store_account *account, struct trace_reader **reader,
			 struct stackmap_error *error)
{
	struct answer answer = {};
	int err = ask(shards, &request->question, &answer, error)
			  ?: write_recording(request, &answer, reader, error);

	if (!err) {
		*account = answer.account;
		answer.account = (struct store_account){};
	}
	answer_clear(&answer);
	return err;
}
