/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A drain promises what it does not know yet. A flight snapshot is one moment: what is in no ring
 * by then was overwritten, unless the task waits still.
 */
#include "capture/read/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "capture/load/skeleton.h"
#include "capture/read/assisted.h"
#include "capture/read/event_stacks.h"
#include "engine.h"

void answers_count(struct recording *recording, const struct stack_name *name, u64 events)
{
	if (name->index == TRACE_NO_STACK)
		recording->written.user_reasons[name->reason] += events;
	else if (name->stop != STOP_COUNT)
		recording->written.user_stops[name->stop] += events;
}

static int keep_promise(struct recording *recording, const struct promise *promise,
			const struct stack_name *name, u64 leaf)
{
	struct trace_answer answer = {.stack = name->index, .reason = name->reason, .leaf = leaf};

	if (promise->index == TRACE_NO_STACK)
		return 0;
	answers_count(recording, name, promise->events);
	return trace_writer_answer(recording->writer, promise->index, &answer);
}

static int keep_promises(struct recording *recording, const struct promise waiting[ANSWER_FORMS],
			 struct user_answer *answer)
{
	int form, result = 0;

	for (form = 0; form < ANSWER_FORMS; form++) {
		struct stack_name name = {};
		u64 leaf = form == ANSWER_BEHIND_LEAF ? answer->leaf : 0;

		if (waiting[form].index == TRACE_NO_STACK)
			continue;
		result = result ?: event_stack_answered(recording, answer, form, &name);
		result = result ?: keep_promise(recording, &waiting[form], &name, leaf);
	}
	return result;
}

/* Takes answer->frames. */
static int join(struct recording *recording, u32 tid, u32 cookie, const struct user_answer *answer)
{
	struct promise waiting[ANSWER_FORMS];
	int result = answer_join_answer(recording->join, tid, cookie, answer, waiting);

	if (result)
		return result == -EEXIST ? 0 : result;
	return keep_promises(recording, waiting, answer_join_find(recording->join, tid, cookie));
}

int answers_deliver(struct recording *recording, const struct ring_view *ring, u64 position)
{
	const struct event_slot *slot = ring_slot(ring, position);
	struct user_answer answer;
	int result = event_stack_delivered(recording->loaded, ring, position, &answer);

	return result ?: join(recording, slot->tid, slot->kernel, &answer);
}

static int join_copy(struct recording *recording, const struct found_answer *found)
{
	struct user_answer answer = found->answer;
	u64 bytes = answer.depth * sizeof(*answer.frames);

	if (answer.depth) {
		answer.frames = malloc(bytes);
		if (!answer.frames)
			return -ENOMEM;
		memcpy(answer.frames, found->answer.frames, bytes);
	}
	return join(recording, found->tid, found->cookie, &answer);
}

static int take_found(struct recording *recording)
{
	struct found_answer *found;
	int result = 0;

	while ((found = assisted_next(recording->assisted))) {
		int error = join(recording, found->tid, found->cookie, &found->answer);

		free(found);
		result = result ?: error;
	}
	return result;
}

static int copy_found(struct recording *recording)
{
	const struct found_answer *found;
	int result = 0;

	TAILQ_FOREACH(found, assisted_queued(recording->assisted), link)
	result = result ?: join_copy(recording, found);
	return result;
}

int answers_find(struct recording *recording, u32 *fill)
{
	int result;

	*fill = 0;
	if (!recording->assisted)
		return 0;
	result = recording->mode == READ_LIVE ? assisted_look(recording->assisted)
					      : assisted_consume(recording->assisted, fill);
	if (recording->mode != READ_DRAIN)
		return result ?: copy_found(recording);
	return result ?: take_found(recording);
}

static int promise(struct recording *recording, u32 tid, u32 cookie, enum answer_form form,
		   struct stack_name *name)
{
	struct promise *promise = answer_join_wait(recording->join, tid, cookie, form);
	int result = 0;

	*name = (struct stack_name){.index = TRACE_NO_STACK, .reason = REASON_UNANSWERED};
	if (!promise)
		return -ENOMEM;
	if (promise->index == TRACE_NO_STACK)
		result = trace_writer_promise(recording->writer, &promise->index);
	if (result)
		return result;
	promise->events++;
	*name = (struct stack_name){.index = promise->index, .stop = STOP_COUNT};
	return 0;
}

/* A sample in user mode has its innermost frame in the event. */
static enum answer_form form_of(const struct loaded *loaded, const struct trace_event *event)
{
	if (loaded->sources->sources[event->kind].type == SOURCE_SAMPLE &&
	    !FRAME_IS_KERNEL(event->leaf))
		return ANSWER_BEHIND_LEAF;
	return ANSWER_FULL;
}

static u8 reason_unanswered(const struct recording *recording, u32 tid, u32 cookie, u8 otherwise)
{
	return pending_list_has(&recording->pending, tid, cookie) ? REASON_UNANSWERED : otherwise;
}

/* Else its stack begins with the leaf, or behind the one that it holds. */
static bool is_reason(const struct user_answer *answer)
{
	return !answer->id && !answer->depth;
}

int answers_name(struct recording *recording, u32 cookie, struct trace_event *event,
		 struct stack_name *name)
{
	struct user_answer *answer = answer_join_find(recording->join, event->tid, cookie);
	enum answer_form form = form_of(recording->loaded, event);

	if (answer) {
		if (form == ANSWER_BEHIND_LEAF && !is_reason(answer))
			event->leaf = answer->leaf;
		return event_stack_answered(recording, answer, form, name);
	}
	if (!recording->loaded->plan.config.flight)
		return promise(recording, event->tid, cookie, form, name);
	*name = (struct stack_name){
		.index = TRACE_NO_STACK,
		.reason =
			reason_unanswered(recording, event->tid, cookie, REASON_ANSWER_OVERWRITTEN),
	};
	return 0;
}

/* For whom nobody will answer. */
struct losing {
	struct recording *recording;
	int result;
};

static bool is_open(void *arg, u32 tid, u32 cookie)
{
	const struct losing *losing = arg;

	return pending_list_has(&losing->recording->pending, cookie & COOKIE_LASTING ? 0 : tid,
				cookie);
}

static void lose(void *arg, u32 tid, u32 cookie, const struct promise waiting[ANSWER_FORMS])
{
	struct losing *losing = arg;
	struct stack_name name = {
		.index = TRACE_NO_STACK,
		.reason = reason_unanswered(losing->recording, tid, cookie, REASON_ANSWER_LOST),
	};
	int form, result;

	for (form = 0; form < ANSWER_FORMS; form++) {
		result = keep_promise(losing->recording, &waiting[form], &name, 0);
		losing->result = losing->result ?: result;
	}
}

struct keeping {
	const struct recording *recording;
	u64 generation;
};

static int keep_frames(void *arg, struct user_answer *answer)
{
	const struct keeping *keeping = arg;

	return event_stack_keep(keeping->recording->loaded, keeping->generation, answer);
}

int answers_keep_frames(struct recording *recording, u64 generation)
{
	struct keeping keeping = {.recording = recording, .generation = generation};

	return answer_join_each(recording->join, keep_frames, &keeping);
}

int answers_look(struct recording *recording)
{
	pending_list_clear(&recording->pending);
	return pending_list_read(bpf_map__fd(loaded_programs(recording->loaded)->maps.deferrals),
				 &recording->pending);
}

static int sweep(struct recording *recording)
{
	struct losing losing = {.recording = recording};
	const struct answer_join_sweep sweep = {.is_open = is_open, .lost = lose, .arg = &losing};
	const __typeof__(loaded_programs(recording->loaded)->maps) *maps =
		&loaded_programs(recording->loaded)->maps;
	struct pending_list *list = &recording->pending;
	int result = answers_look(recording);

	result = result ?: pending_list_read_execve(bpf_map__fd(maps->execve_calls), list);
	result = result ?: pending_list_read_blocked(bpf_map__fd(maps->blocked), list);
	if (!result)
		answer_join_sweep(recording->join, &sweep);
	return result ?: losing.result;
}

int answers_epoch(struct recording *recording)
{
	answer_join_epoch(recording->join);
	return answer_join_is_crowded(recording->join) ? sweep(recording) : 0;
}

int answers_give_up(struct recording *recording)
{
	struct losing losing = {.recording = recording};
	struct answer_join_sweep sweep = {.lost = lose, .arg = &losing};

	answer_join_end(recording->join, &sweep);
	return losing.result;
}

int answers_end(struct recording *recording)
{
	int result = answers_look(recording);

	return answers_give_up(recording) ?: result;
}

static int forget_names(void *arg, struct user_answer *answer)
{
	(void)arg;
	memset(answer->named, 0, sizeof(answer->named));
	return 0;
}

int answers_forget_names(struct recording *recording)
{
	return answer_join_each(recording->join, forget_names, NULL);
}
