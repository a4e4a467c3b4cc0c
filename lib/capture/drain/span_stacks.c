/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A BPF program at the begin or the end of a span changes the map `spans` first and writes the
 * event afterwards. An interrupt may delay the event, so the reader waits WAIT_MS before it treats
 * a missing event as lost.
 */
#include "capture/drain/span_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "capture/drain/drain.h"
#include "capture/drain/event_stacks.h"
#include "capture/load/skeleton.h"
#include "clock.h"
#include "error.h"
#include "hash_index.h"

/* Number of held begins that causes the first check of the BPF map `spans`. */
#define HELD_AT_FIRST 65536
#define BATCH 1024
#define WAIT_MS 1000

struct held_begin {
	struct trace_event event;
	struct stack_ref user;
	u64 gone_at;  /* clock_ms() of the first check at which the map lacked the span; 0 = no such
			 check */
	bool is_done; /* the end of the span was written */
};

struct waiting_end {
	struct trace_event event;
	u64 since; /* clock_ms() when the end was read */
};

struct span_stacks {
	struct held_begin *begins;
	u32 begin_count, begin_room;
	struct hash_index by_mark;
	u32 look_at; /* number of held begins that causes the next check of the BPF map `spans` */
	struct waiting_end *ends;
	u32 end_count, end_room;
	u64 *marks; /* marks of the open spans, sorted */
	u32 mark_count, mark_room;
	/* Keys and values of one batch lookup in the BPF map `spans` */
	struct span_key batch_keys[BATCH];
	struct span_begins batch[BATCH];
};

int span_stacks_create(struct recording *recording)
{
	recording->spans = calloc(1, sizeof(*recording->spans));
	if (!recording->spans)
		return -ENOMEM;
	recording->spans->look_at = HELD_AT_FIRST;
	return 0;
}

void span_stacks_free(struct recording *recording)
{
	if (!recording->spans)
		return;
	free(recording->spans->begins);
	free(recording->spans->ends);
	free(recording->spans->marks);
	hash_index_free(&recording->spans->by_mark);
	free(recording->spans);
	recording->spans = NULL;
}

void span_stacks_begin_file(struct recording *recording)
{
	struct span_stacks *spans = recording->spans;

	spans->begin_count = spans->end_count = 0;
	hash_index_clear(&spans->by_mark);
}

static enum span_side choice_of_span_stacks(const struct recording *recording, u32 kind,
					    enum span_role role)
{
	const struct question *question = &recording->loaded->sources->sources[kind].question;

	return recording->spans && question->span_role == role ? question->stacks : SPAN_STACKS_END;
}

bool span_stacks_is_begin(const struct recording *recording, u32 kind)
{
	return choice_of_span_stacks(recording, kind, SPAN_BEGIN) != SPAN_STACKS_END;
}

enum span_side span_stacks_at_end_of_source(const struct recording *recording, u32 kind)
{
	return choice_of_span_stacks(recording, kind, SPAN_END);
}

static u32 hash_span_mark(u64 mark)
{
	return hash_end(hash_word(0, mark));
}

static bool is_span_begin_with_mark(const void *begins, u32 index, const void *mark)
{
	return ((const struct held_begin *)begins)[index].event.value == *(const u64 *)mark;
}

int span_stacks_hold_begin(struct recording *recording, const struct trace_event *event,
			   const struct stack_ref *user)
{
	struct span_stacks *spans = recording->spans;

	recording->cpus[event->cpu].events++;
	recording->cpus[event->cpu].ended++;
	if (array_make_room(spans->begins, spans->begin_count, spans->begin_room) ||
	    hash_index_add(&spans->by_mark, hash_span_mark(event->value), spans->begin_count))
		return -ENOMEM;
	spans->begins[spans->begin_count++] = (struct held_begin){.event = *event, .user = *user};
	trace_writer_hold_placeholder(recording->writer, event);
	return 0;
}

static struct held_begin *find_held_span_begin(const struct span_stacks *spans, u64 mark)
{
	u32 index = hash_index_find(&spans->by_mark, hash_span_mark(mark), is_span_begin_with_mark,
				    spans->begins, &mark);

	return index == HASH_INDEX_NONE ? NULL : &spans->begins[index];
}

/* Writes a span's event with the span's time, and with the task and the stacks of its begin. */
static int write_span_end_with_begin(struct recording *recording, const struct trace_event *end,
				     struct held_begin *begin)
{
	struct trace_event event = *end;

	trace_writer_release_placeholder(recording->writer, &begin->event);
	begin->is_done = true;
	if (span_stacks_at_end_of_source(recording, end->kind) == SPAN_STACKS_BOTH) {
		event.kind = begin->event.kind;
		recording->cpus[end->cpu].ended--; /* span_stacks_hold_begin() has counted
						      this event as one that is not in the file */
	}
	event.value = SPAN_MARK_TIME(end->time - end->value);
	event.tid = begin->event.tid;
	event.leaf = begin->event.leaf;
	event.kernel = begin->event.kernel;
	event.kernel_reason = begin->event.kernel_reason;
	event.user = begin->event.user;
	event.user_reason = begin->event.user_reason;
	event.has_context = begin->event.has_context;
	event.context = begin->event.context;
	records_count_stacks(recording, &event, &begin->user);
	return trace_writer_event(recording->writer, &event);
}

int span_stacks_take_end(struct recording *recording, const struct trace_event *event)
{
	struct span_stacks *spans = recording->spans;
	struct held_begin *begin;
	struct trace_event end = *event;
	int result = 0;

	end.value &= ~SPAN_MARK_END;
	begin = find_held_span_begin(spans, end.value);
	if (span_stacks_at_end_of_source(recording, end.kind) == SPAN_STACKS_BEGIN) {
		recording->cpus[end.cpu].events++;
		result = task_log_ensure_thread(recording->tasks, recording->writer, end.tid);
	}
	if (begin && !begin->is_done)
		return write_span_end_with_begin(recording, &end, begin) ?: result;
	if (array_make_room(spans->ends, spans->end_count, spans->end_room))
		return -ENOMEM;
	spans->ends[spans->end_count++] = (struct waiting_end){end, clock_ms()};
	return result;
}

/* Writes the end of a span whose begin was lost, without stacks, unless the end was written
 * already. */
static int write_span_end_without_begin(struct recording *recording, const struct trace_event *end)
{
	u32 reason = loaded_is_flight(recording->loaded) ? REASON_ANSWER_OVERWRITTEN
							 : REASON_ANSWER_LOST;
	const struct stack_ref user = {.index = TRACE_NO_STACK, .reason = reason};
	struct trace_event event = *end;

	if (span_stacks_at_end_of_source(recording, end->kind) == SPAN_STACKS_BOTH)
		return 0;
	event.value = SPAN_MARK_TIME(end->time - end->value);
	event.kernel = event.user = TRACE_NO_STACK;
	event.kernel_reason = event.user_reason = reason;
	records_count_stacks(recording, &event, &user);
	return trace_writer_event(recording->writer, &event);
}

static int write_waiting_ends(struct recording *recording, bool all)
{
	struct span_stacks *spans = recording->spans;
	u64 now = clock_ms();
	u32 kept = 0;
	int result = 0;

	for (u32 i = 0; i < spans->end_count; i++) {
		struct waiting_end *end = &spans->ends[i];
		struct held_begin *begin = find_held_span_begin(spans, end->event.value);

		if (begin && !begin->is_done)
			result = first_error(
				result, write_span_end_with_begin(recording, &end->event, begin));
		else if (all || now >= end->since + WAIT_MS)
			result = first_error(result,
					     write_span_end_without_begin(recording, &end->event));
		else
			spans->ends[kept++] = *end;
	}
	spans->end_count = kept;
	return result;
}

static int compare_span_marks(const void *a, const void *b)
{
	u64 left = *(const u64 *)a, right = *(const u64 *)b;

	return (left > right) - (left < right);
}

static int append_marks_of_open_spans(struct span_stacks *spans, u32 count)
{
	for (u32 i = 0; i < count; i++)
		for (u32 depth = 0; depth < SPAN_DEPTH_MAX; depth++) {
			if (depth >= spans->batch[i].depth)
				break;
			if (array_make_room(spans->marks, spans->mark_count, spans->mark_room))
				return -ENOMEM;
			spans->marks[spans->mark_count++] = spans->batch[i].begin[depth];
		}
	return 0;
}

static int read_marks_of_open_spans(struct recording *recording)
{
	struct span_stacks *spans = recording->spans;
	int map = bpf_map__fd(loaded_programs(recording->loaded)->maps.spans);
	u32 place = 0, count;
	bool is_first = true;
	int err = 0;

	spans->mark_count = 0;
	while (!err) {
		count = BATCH;
		err = bpf_map_lookup_batch(map, is_first ? NULL : &place, &place, spans->batch_keys,
					   spans->batch, &count, NULL);
		if (err && err != -ENOENT)
			return err;
		if (append_marks_of_open_spans(spans, count))
			return -ENOMEM;
		is_first = false;
	}
	qsort(spans->marks, spans->mark_count, sizeof(*spans->marks), compare_span_marks);
	return 0;
}

/* True for a begin whose end was written or cannot come any more. */
static bool is_span_begin_finished(const struct span_stacks *spans, struct held_begin *begin,
				   u64 now)
{
	if (begin->is_done)
		return true;
	if (spans->mark_count && bsearch(&begin->event.value, spans->marks, spans->mark_count,
					 sizeof(*spans->marks), compare_span_marks))
		begin->gone_at = 0;
	else if (!begin->gone_at)
		begin->gone_at = now;
	return begin->gone_at && now >= begin->gone_at + WAIT_MS;
}

static int drop_finished_begins(struct recording *recording)
{
	struct span_stacks *spans = recording->spans;
	u64 now = clock_ms();
	u32 kept = 0;
	int result = read_marks_of_open_spans(recording);

	if (result)
		return result;
	hash_index_clear(&spans->by_mark);
	for (u32 i = 0; i < spans->begin_count; i++) {
		struct held_begin *begin = &spans->begins[i];

		if (is_span_begin_finished(spans, begin, now)) {
			if (!begin->is_done)
				trace_writer_release_placeholder(recording->writer, &begin->event);
			continue;
		}
		result = first_error(
			result,
			hash_index_add(&spans->by_mark, hash_span_mark(begin->event.value), kept));
		spans->begins[kept++] = *begin;
	}
	spans->begin_count = kept;
	spans->look_at = kept + kept / 2 > HELD_AT_FIRST ? kept + kept / 2 : HELD_AT_FIRST;
	return result;
}

int span_stacks_end_round(struct recording *recording)
{
	int result = write_waiting_ends(recording, false);

	if (recording->spans->begin_count >= recording->spans->look_at)
		result = first_error(result, drop_finished_begins(recording));
	return result;
}

int span_stacks_write_all_ends(struct recording *recording)
{
	return write_waiting_ends(recording, true);
}
