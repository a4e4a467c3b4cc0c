/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each event id is classified once. An event that has the name of a stack event but other fields is
 * an ordinary event. An event without a format is an ordinary event, too, so no event is left out.
 */
#include "ftrace/entry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "array.h"
#include "ledger.h"

#define IDS_MAX 65536U	    /* number of event ids: an id has 16 bits in the ring */
#define TIDS_MAX (1U << 22) /* limit for thread ids, as in the kernel */
/* Flag of an entry in an NMI, which trace-cmd's library does not define. */
#define CONTEXT_NMI 0x40
/* Bytes of the head of each record: id, flags, preemption count and thread. */
#define COMMON_BYTES 8
#define FIELDS_MAX 3

/* The class of an event id: which entries its records become. */
struct event_class {
	bool is_known;
	u8 what;
	u16 kind;
	struct tep_format_field *fields[FIELDS_MAX];
};

struct ftrace_decoder {
	struct tep_handle *formats;
	ftrace_take *take;
	void *arg;		     /* argument of take() */
	struct event_class *classes; /* index: id of the event type */
	u32 class_room;
	u16 kinds;
	u8 *named; /* one bit for each thread whose name was passed on already */
};

static const struct stack_event {
	const char *name;
	u8 what;
	const char *fields[FIELDS_MAX];
} stack_events[] = {
	{"stack_id", FTRACE_STACK_ID, {"stack_id"}},
	{"kernel_stack", FTRACE_STACK, {"caller"}},
	{"user_stack", FTRACE_USER_STACK, {"caller"}},
	{"user_stack_cookie", FTRACE_COOKIE, {"cookie"}},
	{"user_stack_id", FTRACE_ANSWER, {"cookie", "stack_id", "reason"}},
};

int ftrace_decoder_create(struct tep_handle *formats, ftrace_take *take, void *arg,
			  struct ftrace_decoder **out)
{
	struct ftrace_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return -ENOMEM;
	*decoder = (struct ftrace_decoder){.formats = formats, .take = take, .arg = arg};
	decoder->named = calloc(TIDS_MAX / 8, 1);
	if (!decoder->named)
		ftrace_decoder_free(&decoder);
	else
		*out = decoder;
	return decoder ? 0 : -ENOMEM;
}

void ftrace_decoder_free(struct ftrace_decoder **decoder)
{
	if (!*decoder)
		return;
	free((*decoder)->classes);
	free((*decoder)->named);
	free(*decoder);
	*decoder = NULL;
}

static bool classify_stack_event(struct tep_event *event, struct event_class *class)
{
	const struct stack_event *stack = stack_events;
	const struct stack_event *end = stack + sizeof(stack_events) / sizeof(*stack_events);

	if (!event || strcmp(event->system, "ftrace"))
		return false;
	while (stack < end && strcmp(event->name, stack->name))
		stack++;
	if (stack == end)
		return false;
	for (u32 i = 0; i < FIELDS_MAX && stack->fields[i]; i++) {
		class->fields[i] = tep_find_field(event, stack->fields[i]);
		if (!class->fields[i] || class->fields[i]->offset < COMMON_BYTES)
			return false;
	}
	class->what = stack->what;
	return true;
}

static int pass_entry_to_caller(struct ftrace_decoder *decoder, struct ftrace_entry *entry, u8 what,
				const void *payload, u32 bytes)
{
	entry->what = what;
	entry->bytes = bytes;
	return decoder->take(decoder->arg, entry, payload);
}

/* Returns the class of an event id. NULL: *err is -ENOMEM or the error of take(). */
static const struct event_class *find_event_class(struct ftrace_decoder *decoder,
						  struct ftrace_entry *entry, u32 id, int *err)
{
	struct tep_event *event;
	struct event_class *class;

	*err = array_make_zeroed(decoder->classes, id + 1UL, decoder->class_room);
	if (*err)
		return NULL;
	class = &decoder->classes[id];
	if (class->is_known)
		return class;
	event = tep_find_event(decoder->formats, (int)id);
	if (!classify_stack_event(event, class)) {
		char name[FTRACE_NAME_BYTES_MAX];

		if (event)
			snprintf(name, sizeof(name), "%s:%s", event->system, event->name);
		else
			snprintf(name, sizeof(name), "ftrace:event_%u", id);
		class->what = FTRACE_EVENT;
		class->kind = decoder->kinds++;
		*err = pass_entry_to_caller(decoder, entry, FTRACE_SOURCE, name,
					    (u32)strlen(name) + 1);
	}
	class->is_known = true;
	return *err ? NULL : class;
}

/* trace-cmd's library gives "<...>" as the name of a thread without a name. */
static int pass_new_task_name(struct ftrace_decoder *decoder, struct ftrace_entry *entry)
{
	char comm[FTRACE_COMM_BYTES] = {};
	u8 bit = (u8)(1 << entry->tid % 8), *known = &decoder->named[entry->tid % TIDS_MAX / 8];
	const char *name;

	if (entry->tid >= TIDS_MAX || *known & bit)
		return 0;
	*known |= bit;
	name = tep_data_comm_from_pid(decoder->formats, (int)entry->tid);
	if (!name || !strcmp(name, "<...>"))
		return 0;
	strncpy(comm, name, sizeof(comm) - 1);
	return pass_entry_to_caller(decoder, entry, FTRACE_TASK, comm, sizeof(comm));
}

static int decode_event(struct ftrace_decoder *decoder, const struct tep_record *record,
			const struct event_class *class, struct ftrace_entry *entry)
{
	u64 values[FIELDS_MAX] = {};

	if (class->what == FTRACE_STACK || class->what == FTRACE_USER_STACK) {
		u64 frames[FTRACE_FRAMES_MAX];
		u32 count = 0, offset = (u32) class->fields[0]->offset;

		/* The frames fill the record up to its end. A frame that is 0 is padding. */
		for (; count < FTRACE_FRAMES_MAX && offset + sizeof(u64) <= (u32)record->size;
		     offset += sizeof(u64)) {
			u64 frame = tep_read_number(decoder->formats, (char *)record->data + offset,
						    sizeof(u64));

			if (frame && frame != ~0ULL)
				frames[count++] = frame;
		}
		return pass_entry_to_caller(decoder, entry, class->what, frames,
					    count * sizeof(u64));
	}
	for (u32 i = 0; i < FIELDS_MAX && class->fields[i]; i++) {
		const struct tep_format_field *field = class->fields[i];

		if (!(field->size > 0 && field->offset <= record->size &&
		      field->size <= record->size - field->offset))
			return -EBADMSG;
		values[i] = tep_read_number(decoder->formats, (char *)record->data + field->offset,
					    field->size);
	}
	entry->kind = class->kind;
	entry->id = (u32)(class->what == FTRACE_STACK_ID ? values[0] : values[1]);
	entry->reason = (u32)values[2];
	if (class->what != FTRACE_STACK_ID)
		entry->value = values[0];
	return pass_entry_to_caller(decoder, entry, class->what, NULL, 0);
}

static int decode_lost_entries(struct ftrace_decoder *decoder, const struct tep_record *record,
			       struct ftrace_entry entry)
{
	int err;

	if (!record->missed_events)
		return 0;
	err = pass_entry_to_caller(decoder, &entry, FTRACE_GAP, NULL, 0);
	entry.value = record->missed_events > 0 ? (u64)record->missed_events : 0;
	entry.reason = LOST_OVERWRITTEN;
	return err ?: pass_entry_to_caller(decoder, &entry, FTRACE_LOST, NULL, 0);
}

int ftrace_decode(struct ftrace_decoder *decoder, struct tep_record *record, u32 cpu)
{
	struct ftrace_entry entry = {.time = record->ts, .cpu = (u16)cpu};
	const struct event_class *class;
	int err, flags;

	if (record->size < COMMON_BYTES || cpu >= FTRACE_CPUS_MAX)
		return -EBADMSG;
	entry.tid = (u32)tep_data_pid(decoder->formats, record);
	flags = tep_data_flags(decoder->formats, record);
	entry.context = flags & CONTEXT_NMI	     ? FTRACE_NMI
			: flags & TRACE_FLAG_HARDIRQ ? FTRACE_HARDIRQ
			: flags & TRACE_FLAG_SOFTIRQ ? FTRACE_SOFTIRQ
						     : FTRACE_TASK_CONTEXT;
	class = find_event_class(decoder, &entry,
				 (u32)tep_data_type(decoder->formats, record) % IDS_MAX, &err);
	err = err ?: decode_lost_entries(decoder, record, entry);
	if (!err && class->what == FTRACE_EVENT)
		err = pass_new_task_name(decoder, &entry);
	return err ?: decode_event(decoder, record, class, &entry);
}
