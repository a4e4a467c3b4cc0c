/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A drain promises what it does not know yet. A flight snapshot is one moment: what is in no ring
 * by then was overwritten, unless the task waits still.
 */
#include "capture/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "capture/assisted.h"
#include "capture/event_stacks.h"
#include "capture/load/skeleton.h"
#include "engine.h"

void answers_count(struct capture *capture, const struct stack_name *name, u64 events)
{
	if (name->index == TRACE_NO_STACK)
		capture->written.user_reasons[name->reason] += events;
	else if (name->stop != STOP_COUNT)
		capture->written.user_stops[name->stop] += events;
}

static int keep_promise(struct capture *capture, struct trace_writer *writer,
			const struct promise *promise, const struct stack_name *name, u64 leaf)
{
	struct trace_resolution resolution = {
		.stack = name->index, .reason = name->reason, .leaf = leaf};

	if (promise->index == TRACE_NO_STACK)
		return 0;
	answers_count(capture, name, promise->events);
	return trace_writer_resolve(writer, promise->index, &resolution);
}

static int keep_promises(struct capture *capture, struct trace_writer *writer,
			 const struct promise waiting[ANSWER_FORMS], struct user_answer *answer)
{
	int form, result = 0;

	for (form = 0; form < ANSWER_FORMS; form++) {
		struct stack_name name = {};
		u64 leaf = form == ANSWER_BEHIND_LEAF ? answer->leaf : 0;

		if (waiting[form].index == TRACE_NO_STACK)
			continue;
		result = result ?: event_stack_answered(capture, writer, answer, form, &name);
		result = result ?: keep_promise(capture, writer, &waiting[form], &name, leaf);
	}
	return result;
}

/* Takes answer->frames. */
static int join(struct capture *capture, struct trace_writer *writer, u32 tid, u32 cookie,
		const struct user_answer *answer)
{
	struct promise waiting[ANSWER_FORMS];
	int result = answer_join_answer(capture->join, tid, cookie, answer, waiting);

	if (result)
		return result == -EEXIST ? 0 : result;
	return keep_promises(capture, writer, waiting,
			     answer_join_find(capture->join, tid, cookie));
}

int answers_deliver(struct capture *capture, struct trace_writer *writer,
		    const struct ring_view *ring, u64 position)
{
	const struct event_slot *slot = ring_slot(ring, position);
	struct user_answer answer;
	int result = event_stack_delivered(capture, ring, position, &answer);

	return result ?: join(capture, writer, slot->tid, slot->kernel, &answer);
}

static int join_copy(struct capture *capture, struct trace_writer *writer,
		     const struct found_answer *found)
{
	struct user_answer answer = found->answer;
	u64 bytes = answer.depth * sizeof(*answer.frames);

	if (answer.depth) {
		answer.frames = malloc(bytes);
		if (!answer.frames)
			return -ENOMEM;
		memcpy(answer.frames, found->answer.frames, bytes);
	}
	return join(capture, writer, found->tid, found->cookie, &answer);
}

static int take_found(struct capture *capture, struct trace_writer *writer)
{
	struct found_answer *found;
	int result = 0;

	while ((found = assisted_next(capture->assisted))) {
		int error = join(capture, writer, found->tid, found->cookie, &found->answer);

		free(found);
		result = result ?: error;
	}
	return result;
}

static int copy_found(struct capture *capture, struct trace_writer *writer)
{
	const struct found_answer *found;
	int result = 0;

	TAILQ_FOREACH(found, assisted_queued(capture->assisted), link)
	result = result ?: join_copy(capture, writer, found);
	return result;
}

int answers_find(struct capture *capture, struct trace_writer *writer, u32 *fill)
{
	int result;

	*fill = 0;
	if (!capture->assisted)
		return 0;
	result = capture->about && capture->rings.live ? assisted_look(capture->assisted)
						       : assisted_consume(capture->assisted, fill);
	if (capture->plan.config.flight)
		return result ?: copy_found(capture, writer);
	return result ?: take_found(capture, writer);
}

static int promise(struct capture *capture, struct trace_writer *writer, u32 tid, u32 cookie,
		   enum answer_form form, struct stack_name *name)
{
	struct promise *promise = answer_join_wait(capture->join, tid, cookie, form);
	int result = 0;

	*name = (struct stack_name){.index = TRACE_NO_STACK, .reason = REASON_UNANSWERED};
	if (!promise)
		return -ENOMEM;
	if (promise->index == TRACE_NO_STACK)
		result = trace_writer_placeholder(writer, &promise->index);
	if (result)
		return result;
	promise->events++;
	*name = (struct stack_name){.index = promise->index, .stop = STOP_COUNT};
	return 0;
}

/* A sample in user mode has its innermost frame in the event. */
static enum answer_form form_of(const struct capture *capture, const struct trace_event *event)
{
	if (capture->sources->sources[event->kind].type == SOURCE_SAMPLE &&
	    !FRAME_IS_KERNEL(event->leaf))
		return ANSWER_BEHIND_LEAF;
	return ANSWER_FULL;
}

static u8 reason_unanswered(const struct capture *capture, u32 tid, u32 cookie, u8 otherwise)
{
	return pending_list_has(&capture->pending, tid, cookie) ? REASON_UNANSWERED : otherwise;
}

/* Else its stack begins with the leaf, or behind the one that it holds. */
static bool is_reason(const struct user_answer *answer)
{
	return !answer->id && !answer->depth;
}

int answers_name(struct capture *capture, struct trace_writer *writer, u32 cookie,
		 struct trace_event *event, struct stack_name *name)
{
	struct user_answer *answer = answer_join_find(capture->join, event->tid, cookie);
	enum answer_form form = form_of(capture, event);

	if (answer) {
		if (form == ANSWER_BEHIND_LEAF && !is_reason(answer))
			event->leaf = answer->leaf;
		return event_stack_answered(capture, writer, answer, form, name);
	}
	if (!capture->plan.config.flight)
		return promise(capture, writer, event->tid, cookie, form, name);
	*name = (struct stack_name){
		.index = TRACE_NO_STACK,
		.reason = reason_unanswered(capture, event->tid, cookie, REASON_ANSWER_OVERWRITTEN),
	};
	return 0;
}

/* For whom nobody will answer. */
struct losing {
	struct capture *capture;
	struct trace_writer *writer;
	int result;
};

static bool is_open(void *arg, u32 tid, u32 cookie)
{
	const struct losing *losing = arg;

	return pending_list_has(&losing->capture->pending, cookie & COOKIE_LASTING ? 0 : tid,
				cookie);
}

static void lose(void *arg, u32 tid, u32 cookie, const struct promise waiting[ANSWER_FORMS])
{
	struct losing *losing = arg;
	struct stack_name name = {
		.index = TRACE_NO_STACK,
		.reason = reason_unanswered(losing->capture, tid, cookie, REASON_ANSWER_LOST),
	};
	int form, result;

	for (form = 0; form < ANSWER_FORMS; form++) {
		result = keep_promise(losing->capture, losing->writer, &waiting[form], &name, 0);
		losing->result = losing->result ?: result;
	}
}

struct keeping {
	const struct capture *capture;
	u64 generation;
};

static int keep_frames(void *arg, struct user_answer *answer)
{
	const struct keeping *keeping = arg;

	return event_stack_keep(keeping->capture, keeping->generation, answer);
}

int answers_keep_frames(struct capture *capture, u64 generation)
{
	struct keeping keeping = {.capture = capture, .generation = generation};

	return answer_join_each(capture->join, keep_frames, &keeping);
}

int answers_look(struct capture *capture)
{
	pending_list_clear(&capture->pending);
	return pending_list_read(bpf_map__fd(capture_programs(capture)->maps.deferrals),
				 &capture->pending);
}

static int sweep(struct capture *capture, struct trace_writer *writer)
{
	struct losing losing = {.capture = capture, .writer = writer};
	const struct answer_join_sweep sweep = {.is_open = is_open, .lost = lose, .arg = &losing};
	const __typeof__(capture_programs(capture)->maps) *maps = &capture_programs(capture)->maps;
	struct pending_list *list = &capture->pending;
	int result = answers_look(capture);

	result = result ?: pending_list_read_execve(bpf_map__fd(maps->execve_calls), list);
	result = result ?: pending_list_read_blocked(bpf_map__fd(maps->blocked), list);
	if (!result)
		answer_join_sweep(capture->join, &sweep);
	return result ?: losing.result;
}

int answers_epoch(struct capture *capture, struct trace_writer *writer)
{
	answer_join_epoch(capture->join);
	return answer_join_is_crowded(capture->join) ? sweep(capture, writer) : 0;
}

int answers_give_up(struct capture *capture, struct trace_writer *writer)
{
	struct losing losing = {.capture = capture, .writer = writer};
	struct answer_join_sweep sweep = {.lost = lose, .arg = &losing};

	answer_join_end(capture->join, &sweep);
	return losing.result;
}

int answers_end(struct capture *capture, struct trace_writer *writer)
{
	int result = answers_look(capture);

	return answers_give_up(capture, writer) ?: result;
}

static int forget_names(void *arg, struct user_answer *answer)
{
	(void)arg;
	memset(answer->named, 0, sizeof(answer->named));
	return 0;
}

int answers_forget_names(struct capture *capture)
{
	return answer_join_each(capture->join, forget_names, NULL);
}
