/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/drain/alive_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "array.h"
#include "capture/drain/drain.h"
#include "capture/drain/event_stacks.h"
#include "capture/load/skeleton.h"
#include "error.h"

/* Number of held events that causes the first check of the BPF map `alive`. */
#define HELD_AT_FIRST 65536
#define BATCH 4096

struct held_event {
	struct trace_event event;
	struct stack_ref user;
};

struct alive_events {
	struct held_event *held;
	u32 held_count, held_room;
	u32 look_at; /* number of held events that causes the next check of the BPF map `alive` */
	struct alive_thing *things;
	u32 thing_count, thing_room;
	/* Keys and values of one batch lookup in the BPF map `alive` */
	struct span_key batch_keys[BATCH];
	struct alive_thing batch[BATCH];
};

int alive_events_create(struct recording *recording)
{
	recording->alive = calloc(1, sizeof(*recording->alive));
	if (!recording->alive)
		return -ENOMEM;
	recording->alive->look_at = HELD_AT_FIRST;
	return 0;
}

void alive_events_free(struct recording *recording)
{
	if (!recording->alive)
		return;
	free(recording->alive->held);
	free(recording->alive->things);
	free(recording->alive);
	recording->alive = NULL;
}

bool alive_events_are_kept_of_source(const struct recording *recording, u32 kind)
{
	return recording->alive &&
	       recording->loaded->sources->sources[kind].question.span_role == ALIVE_BEGIN;
}

static int compare_serials(const void *a, const void *b)
{
	const struct alive_thing *left = a, *right = b;

	return (left->serial > right->serial) - (left->serial < right->serial);
}

/* Reads all objects that are alive, and sorts them by serial number. An object that is alive during
 * the whole call is read once. */
static int read_alive_things(struct recording *recording)
{
	struct alive_events *alive = recording->alive;
	int map = bpf_map__fd(loaded_programs(recording->loaded)->maps.alive);
	u32 place = 0, count;
	bool is_first = true;
	int err = 0;

	alive->thing_count = 0;
	while (!err) {
		count = BATCH;
		err = bpf_map_lookup_batch(map, is_first ? NULL : &place, &place, alive->batch_keys,
					   alive->batch, &count, NULL);
		if (err && err != -ENOENT)
			return err;
		for (u32 i = 0; i < count; i++) {
			if (array_make_room(alive->things, alive->thing_count, alive->thing_room))
				return -ENOMEM;
			alive->things[alive->thing_count++] = alive->batch[i];
		}
		is_first = false;
	}
	qsort(alive->things, alive->thing_count, sizeof(*alive->things), compare_serials);
	return 0;
}

static struct alive_thing *find_alive_thing(const struct alive_events *alive, u64 serial)
{
	const struct alive_thing key = {.serial = serial};

	if (!alive->thing_count)
		return NULL;
	return bsearch(&key, alive->things, alive->thing_count, sizeof(key), compare_serials);
}

static int drop_events_of_ended_objects(struct recording *recording)
{
	struct alive_events *alive = recording->alive;
	u32 kept = 0;
	int err = read_alive_things(recording);

	if (err)
		return err;
	for (u32 i = 0; i < alive->held_count; i++) {
		struct held_event *held = &alive->held[i];

		if (find_alive_thing(alive, held->event.value)) {
			alive->held[kept++] = *held;
			continue;
		}
		trace_writer_release_placeholder(recording->writer, &held->event);
		recording->cpus[held->event.cpu].ended++;
	}
	alive->held_count = kept;
	alive->look_at = 2 * kept > HELD_AT_FIRST ? 2 * kept : HELD_AT_FIRST;
	return 0;
}

int alive_events_keep_event(struct recording *recording, const struct trace_event *event,
			    const struct stack_ref *user)
{
	struct alive_events *alive = recording->alive;

	if (array_make_room(alive->held, alive->held_count, alive->held_room))
		return -ENOMEM;
	alive->held[alive->held_count++] = (struct held_event){*event, *user};
	trace_writer_hold_placeholder(recording->writer, event);
	recording->cpus[event->cpu].events++;
	return alive->held_count < alive->look_at ? 0 : drop_events_of_ended_objects(recording);
}

static int write_held_event(struct recording *recording, struct held_event *held)
{
	const struct source *source = &recording->loaded->sources->sources[held->event.kind];
	const struct alive_thing *thing = find_alive_thing(recording->alive, held->event.value);

	held->event.value = source->unit && thing ? thing->number : 0;
	if (source->question.every)
		held->event.value = ALIVE_ESTIMATE(held->event.value, source->question.every);
	trace_writer_release_placeholder(recording->writer, &held->event);
	records_count_stacks(recording, &held->event, &held->user);
	return trace_writer_event(recording->writer, &held->event);
}

int alive_events_write(struct recording *recording)
{
	struct alive_events *alive = recording->alive;
	int result = drop_events_of_ended_objects(recording);

	if (result)
		return result;
	recording->written.notes[NOTE_UNSEEN_ALIVE] = alive->thing_count - alive->held_count;
	for (u32 i = 0; i < alive->held_count; i++)
		result = first_error(result, write_held_event(recording, &alive->held[i]));
	alive->held_count = 0;
	return result;
}
