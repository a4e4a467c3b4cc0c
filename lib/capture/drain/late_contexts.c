/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/drain/late_contexts.h"

#include <errno.h>
#include <string.h>

#include "array.h"
#include "capture/drain/alive_events.h"
#include "capture/drain/deferred.h"
#include "capture/drain/span_stacks.h"
#include "error.h"
#include "keyed_hash.h"

/* This many events at most are held back for their trace and span; a further event is written
 * without them. */
#define LATE_EVENTS_MAX 16384

struct late_event {
	struct trace_event event;
	u32 cookie;
	u64 delivered; /* epoch in which the stack of the cookie came; 0 = the stack has not come
			  yet */
};

static void count_event_without_context(struct recording *recording)
{
	recording->written.notes[NOTE_UNREAD_CONTEXTS]++;
}

static bool has_hash(const void *items, u32 index, const void *hash)
{
	return ((const struct written_attribute *)items)[index].hash == *(const u64 *)hash;
}

static u64 hash_attributes(const struct recording *recording,
			   const struct context_attributes *attributes)
{
	const u64 *key = recording->loaded->plan.config.attribute_key;
	u32 words = ATTRIBUTE_WORDS(attributes->bytes);
	struct keyed_hash hash;
	u64 result;

	keyed_hash_begin(&hash, key[0], key[1]);
	for (u32 i = 0; i < words; i++)
		keyed_hash_add(&hash, attributes->word[i]);
	result = keyed_hash_end(&hash, words);
	return result < ATTRIBUTES_LEAST_HASH ? result + ATTRIBUTES_LEAST_HASH : result;
}

/* Copies the attributes with a hash out of the programs' table, where they may be overwritten at
 * any time. False: the table does not have them. */
static bool read_attributes(const struct recording *recording, u64 hash,
			    struct context_attributes *out)
{
	const struct attribute_slot *slots = recording->loaded->attribute_slots.memory;

	slots += hash % ATTRIBUTE_SETS * ATTRIBUTE_WAYS;
	for (u32 way = 0; way < ATTRIBUTE_WAYS; way++) {
		if (__atomic_load_n(&slots[way].hash, __ATOMIC_ACQUIRE) != hash)
			continue;
		memcpy(out, &slots[way].attributes, sizeof(*out));
		if (out->bytes <= ATTRIBUTE_BYTES_MAX && hash_attributes(recording, out) == hash)
			return true;
	}
	return false;
}

/* Sets *number to the number that the attributes with this hash have in the file. 0: they are not
 * known, or the file has no room for them, and the event is counted. An error of the writer. */
static int write_attributes(struct recording *recording, u64 hash, u32 *number)
{
	struct written_attributes *written = &recording->attributes;
	u32 count = written->index.count;
	u32 known = hash_index_find(&written->index, (u32)hash, has_hash, written->items, &hash);
	struct context_attributes read;
	int result;

	if (known != HASH_INDEX_NONE) {
		*number = written->items[known].number;
		return 0;
	}
	if (!read_attributes(recording, hash, &read)) {
		recording->written.notes[NOTE_UNREAD_ATTRIBUTES]++;
		return 0;
	}
	result = trace_writer_attributes(recording->writer,
					 &(struct trace_attributes){.bytes = read.bytes,
								    .program = read.program,
								    .data = read.data},
					 number);
	if (result == -E2BIG) {
		recording->written.notes[NOTE_UNKEPT_ATTRIBUTES]++;
		return 0;
	}
	if (result)
		return result;
	if (array_make_room(written->items, count, written->room) ||
	    hash_index_add(&written->index, (u32)hash, count))
		return -ENOMEM;
	written->items[count] = (struct written_attribute){hash, *number};
	return 0;
}

/* Sets the trace, span and attributes of an event from the words of a context that is not awaited
 * any more. */
static int set_event_context(struct recording *recording, const u64 *words,
			     struct trace_event *event)
{
	u64 attributes = words[CONTEXT_ATTRIBUTES];
	struct trace_context context = {};
	int result;

	if (!words[CONTEXT_SPAN] && words[0]) {
		count_event_without_context(recording);
		return 0;
	}
	memcpy(context.trace, words, sizeof(context.trace));
	memcpy(context.span, &words[CONTEXT_SPAN], sizeof(context.span));
	if (attributes == ATTRIBUTES_UNREADABLE)
		recording->written.notes[NOTE_UNREAD_ATTRIBUTES]++;
	else if (attributes == ATTRIBUTES_TOO_LONG)
		recording->written.notes[NOTE_LONG_ATTRIBUTES]++;
	else if (attributes) {
		result = write_attributes(recording, attributes, &context.attributes);
		if (result)
			return result;
	}
	if (!words[CONTEXT_SPAN] && !context.attributes)
		return 0;
	result = trace_writer_context(recording->writer, &context, &event->context);
	event->has_context = !result;
	if (result != -E2BIG)
		return result;
	recording->written.notes[NOTE_UNKEPT_CONTEXTS]++;
	return 0;
}

/* True if the trace and span of an event will not come: the callback commits them before the
 * stack, and all slots of the time when the stack came were read. The stack itself may be dropped
 * by then. */
static bool is_context_lost(const struct recording *recording, struct late_event *late)
{
	const struct deferred_stacks *stacks = recording->deferred->stacks;

	if (!late->delivered)
		late->delivered =
			deferred_stacks_epoch_of_delivery(stacks, late->event.tid, late->cookie);
	return late->delivered && deferred_stacks_has_whole_epoch_passed(stacks, late->delivered);
}

int context_set_from_slot(struct recording *recording, const struct event_slot *slot,
			  struct trace_event *event, u32 *late)
{
	const u64 *words = &slot->extra[EVENT_NUMBERS(recording->loaded->plan.config)];
	u32 cookie = (u32)words[0];

	if (words[CONTEXT_SPAN] || words[0] != CONTEXT_AWAITED(cookie))
		return set_event_context(recording, words, event);
	words = recording->deferred
			? deferred_stacks_context(recording->deferred->stacks, event->tid, cookie)
			: NULL;
	if (words)
		return set_event_context(recording, words, event);
	/* The event is held back until its context comes, if the read mode and the event's source
	 * allow that. */
	if (recording->deferred && recording->mode == READ_DRAIN &&
	    !loaded_is_flight(recording->loaded) &&
	    recording->deferred->late_count < LATE_EVENTS_MAX &&
	    !alive_events_are_kept_of_source(recording, event->kind) &&
	    !span_stacks_is_begin(recording, event->kind))
		*late = cookie;
	else
		count_event_without_context(recording);
	return 0;
}

int late_contexts_hold(struct recording *recording, const struct trace_event *event, u32 cookie)
{
	struct deferred *deferred = recording->deferred;

	if (array_make_room(deferred->late, deferred->late_count, deferred->late_room)) {
		count_event_without_context(recording);
		return trace_writer_event(recording->writer, event) ?: -ENOMEM;
	}
	deferred->late[deferred->late_count++] =
		(struct late_event){.event = *event, .cookie = cookie};
	trace_writer_hold_placeholder(recording->writer, event);
	return 0;
}

static int write_held_late_event(struct recording *recording, struct late_event *late,
				 const u64 *words)
{
	int result = 0;

	if (words)
		result = set_event_context(recording, words, &late->event);
	else
		count_event_without_context(recording);
	trace_writer_release_placeholder(recording->writer, &late->event);
	return trace_writer_event(recording->writer, &late->event) ?: result;
}

static int write_late_events_with_context(struct recording *recording, bool all)
{
	struct deferred *deferred = recording->deferred;
	u32 kept = 0;
	int result = 0;

	for (u32 i = 0; i < deferred->late_count; i++) {
		struct late_event *late = &deferred->late[i];
		const u64 *words =
			deferred_stacks_context(deferred->stacks, late->event.tid, late->cookie);

		if (words || all || is_context_lost(recording, late))
			result = first_error(result, write_held_late_event(recording, late, words));
		else
			deferred->late[kept++] = *late;
	}
	deferred->late_count = kept;
	return result;
}

int late_contexts_end_round(struct recording *recording)
{
	return write_late_events_with_context(recording, false);
}

int late_contexts_write_all(struct recording *recording)
{
	return write_late_events_with_context(recording, true);
}
