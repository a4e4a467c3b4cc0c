/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stack that the map refuses stays in the queue in full. A flight recorder may never ask for its
 * answers: beyond a limit the oldest is dropped, as rings overwrite theirs.
 */
#include "capture/read/assisted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "capture/load/loaded.h"
#include "capture/load/skeleton.h"
#include "capture/read/raw_ring.h"

#define QUEUE_BYTES_MAX (16U << 20)

struct assisted {
	struct loaded *loaded;
	struct ring_buffer *raw;
	struct assist *assist;
	struct found_answers queue;
	u64 queue_bytes;
	u64 raw_bytes; /* of the ring buffer */
	bool looks;    /* at what stays in the ring buffer */
	struct assist_stack found;
};

u32 assisted_processes(const struct assisted *assisted, u32 *pids)
{
	return assist_processes(assisted->assist, pids);
}

static u64 found_bytes(const struct found_answer *found)
{
	return sizeof(*found) + found->answer.depth * sizeof(*found->answer.frames);
}

void found_answer_free(struct found_answer *found)
{
	if (found)
		free(found->answer.frames);
	free(found);
}

const struct found_answers *assisted_queued(const struct assisted *assisted)
{
	return &assisted->queue;
}

static void take_out(struct assisted *assisted, struct found_answer *found)
{
	TAILQ_REMOVE(&assisted->queue, found, link);
	assisted->queue_bytes -= found_bytes(found);
}

struct found_answer *assisted_next(struct assisted *assisted)
{
	struct found_answer *found = TAILQ_FIRST(&assisted->queue);

	if (found)
		take_out(assisted, found);
	return found;
}

void assisted_forget_looked(struct assisted *assisted)
{
	struct found_answer *found, *next;

	for (found = TAILQ_FIRST(&assisted->queue); found; found = next) {
		next = TAILQ_NEXT(found, link);
		if (!found->looked)
			continue;
		take_out(assisted, found);
		found_answer_free(found);
	}
}

void assisted_queue(struct assisted *assisted, struct found_answer *found)
{
	TAILQ_INSERT_TAIL(&assisted->queue, found, link);
	assisted->queue_bytes += found_bytes(found);
	while (assisted->queue_bytes > QUEUE_BYTES_MAX)
		found_answer_free(assisted_next(assisted));
}

/* As a delivery holds it: where the instance has leaves, the leaf stands before its callers. */
static int fill_answer(struct assisted *assisted, bool looked, struct user_answer *answer)
{
	const struct assist_stack *found = &assisted->found;
	u32 leaf = assisted->loaded->plan.config.leaf && found->depth > 1;
	u32 depth = found->depth - leaf;
	const u64 *frames = found->frame + leaf;

	answer->leaf = leaf ? found->frame[0] : 0;
	answer->reason = REASON_NO_FRAMES;
	if (!depth)
		return 0;
	/* Who only looks does not add to the map, but the same stack may be there. */
	answer->id = generation_stack_id(assisted->loaded, frames, depth, found->flags, !looked);
	if (answer->id)
		return 0;
	answer->frames = malloc(depth * sizeof(*frames));
	if (!answer->frames)
		return -ENOMEM;
	memcpy(answer->frames, frames, depth * sizeof(*frames));
	answer->depth = depth;
	answer->flags = found->flags;
	return 0;
}

int assisted_finish(struct assisted *assisted, const struct raw_stack *raw, bool looked,
		    struct found_answer **out)
{
	struct found_answer *found = calloc(1, sizeof(*found));
	int result = 0;

	if (!found)
		return -ENOMEM;
	found->tid = raw->tid;
	found->cookie = raw->cookie;
	found->looked = looked;
	found->answer.reason = REASON_UNREADABLE;
	if (!assist_unwind(assisted->assist, raw, &assisted->found) && assisted->found.depth)
		result = fill_answer(assisted, looked, &found->answer);
	if (result)
		found_answer_free(found);
	else
		*out = found;
	return result;
}

static int take_raw(void *arg, void *data, size_t bytes)
{
	struct assisted *assisted = arg;
	const struct raw_stack *raw = data;
	struct found_answer *found;
	int result;

	if (bytes < RAW_STACK_SIZE(0) || bytes < RAW_STACK_SIZE((u64)raw->stack_bytes))
		return 0;
	assisted->raw_bytes += bytes;
	result = assisted_finish(assisted, raw, assisted->looks, &found);
	if (!result)
		assisted_queue(assisted, found);
	return result;
}

int assisted_consume(struct assisted *assisted, u32 *fill)
{
	const struct bpf_map *map = loaded_programs(assisted->loaded)->maps.raw_stacks;
	int result;

	assisted->raw_bytes = 0;
	result = ring_buffer__consume(assisted->raw);
	*fill = assisted->raw_bytes * 100 / bpf_map__max_entries(map);
	return result < 0 ? result : 0;
}

int assisted_look(struct assisted *assisted)
{
	const struct bpf_map *map = loaded_programs(assisted->loaded)->maps.raw_stacks;
	int result;

	assisted->looks = true;
	result = raw_ring_each(bpf_map__fd(map), bpf_map__max_entries(map), take_raw, assisted);
	assisted->looks = false;
	return result;
}

static const struct mapping_record *record_of(void *loaded, u32 number)
{
	return number < MAPPINGS_MAX ? loaded_mapping(loaded, number) : NULL;
}

static int open_all(struct assisted *assisted, struct loaded *loaded)
{
	struct assist_options options = {
		.mapping = record_of,
		.argument = loaded,
		.rules = loaded->rules.memory,
		.max_depth = loaded->plan.config.max_user_depth,
		.is_foreign = loaded->foreign,
	};

	assisted->raw = ring_buffer__new(bpf_map__fd(loaded_programs(loaded)->maps.raw_stacks),
					 take_raw, assisted, NULL);
	if (!assisted->raw)
		return -errno;
	return assist_create(&options, &assisted->assist);
}

int assisted_create(struct loaded *loaded, struct assisted **out)
{
	struct assisted *assisted = calloc(1, sizeof(*assisted));
	int result;

	if (!assisted)
		return -ENOMEM;
	TAILQ_INIT(&assisted->queue);
	assisted->loaded = loaded;
	result = open_all(assisted, loaded);
	if (result)
		assisted_free(&assisted);
	else
		*out = assisted;
	return result;
}

void assisted_free(struct assisted **assisted)
{
	struct assisted *gone = *assisted;

	if (!gone)
		return;
	while (!TAILQ_EMPTY(&gone->queue))
		found_answer_free(assisted_next(gone));
	ring_buffer__free(gone->raw);
	assist_free(&gone->assist);
	free(gone);
	*assisted = NULL;
}
