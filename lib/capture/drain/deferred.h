/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins deferred stacks to their events: takes deferred stacks from the rings, unwinds raw stacks,
 * finds the stack of an event by the event's cookie, and gives up cookies whose stack never comes.
 *
 * A raw stack is a copy of registers and stack memory (abi/raw_stack.h) of a user stack that the
 * BPF programs could not unwind to its end. Raw stacks come through the BPF ring buffer
 * `raw_stacks`, are unwound in user space (user_unwind/user_unwinder.h), and go into the stack map
 * like all stacks.
 */
#ifndef LIB_CAPTURE_DEFERRED_H
#define LIB_CAPTURE_DEFERRED_H

#include "capture/drain/deferred_stack.h"
#include "capture/drain/held_stacks.h"
#include "capture/drain/open_cookies.h"
#include "capture/drain/recording.h"
#include "raw_stack.h"

struct late_event;
struct user_unwinder;
struct unwound_stack;
struct ring_buffer;

struct deferred {
	struct deferred_stacks *stacks;
	struct open_cookies open; /* the open cookies, as they were read at the last snapshot, at
				     the last sweep, or at the end */
	struct held_stacks held;  /* raw stacks that wait for the unwind rules of a file */
	struct late_event *late;  /* events that wait for their trace and span (late_contexts.h) */
	u32 late_count, late_room;
	struct ring_buffer *raw;
	struct user_unwinder *unwinder;
	struct unwound_stack *unwound;
	u64 raw_bytes; /* bytes of raw stacks that were read in this round */
	int result;    /* first error of this round, -errno */
};

/* Sets recording->deferred. -ENOMEM, -errno. */
int deferred_create(struct recording *recording);
void deferred_free(struct deferred **deferred);

/* Reads the deferred stack at `position` of a ring, and joins it to its events; or reads the trace
 * and span of a cookie, and keeps them for events. */
int deferred_take_from_ring(struct recording *recording, const struct ring_view *ring,
			    u64 position);

/* Unwinds all raw stacks that are in the ring buffer now; with READ_LIVE the raw stacks stay in the
 * ring buffer. *fill: use of the ring buffer before the call, in percent. */
int deferred_unwind_raw_stacks_in_ring(struct recording *recording, u32 *fill);

/* Unwinds the held raw stacks whose unwind rules have arrived meanwhile; `all`: also the held raw
 * stacks whose rules have not arrived. -errno, -ENOMEM. */
int deferred_unwind_held(struct recording *recording, bool all);

/* True if raw stacks wait for unwind rules. */
bool deferred_has_held_stacks(const struct recording *recording);

/* Unwinds a raw stack to a stack of frames, which the caller joins or frees. `peeked`: the task
 * will deliver the stack itself later, so the unwound stack is not put into the stack map. -ENOMEM.
 */
int deferred_unwind_raw_stack(const struct recording *recording, const struct raw_stack *raw,
			      bool peeked, struct deferred_stack **out);

/* Takes over a stack, and resolves the placeholders of the events that wait for this stack. */
int join_deferred_stack_with_events(struct recording *recording, struct deferred_stack *stack);

/* Finds the user stack of an event with a cookie. *ref gets the stack; or a placeholder, if the
 * stack is not known yet; or in flight mode the reason why there is no stack. The leaf of the
 * deferred stack replaces event->leaf if the event is a sample in user mode. */
int deferred_find_stack_for_event(struct recording *recording, u32 cookie,
				  struct trace_event *event, struct stack_ref *ref);

/* Ends an epoch: all rings were read up to the heads that they had at the begin of the epoch. */
int deferred_end_epoch(struct recording *recording);

/* Copies the frames of kept stacks out of the stack map, so that no kept stack needs the table of
 * `generation` or of an older generation any more. -ENOMEM. */
int deferred_copy_frames_from_stack_map(struct recording *recording, u64 generation);

/* Reads the cookies that tasks wait for now. */
int deferred_read_open_cookies(struct recording *recording);

/* End the placeholders of the file: held raw stacks are unwound without the missing rules, and each
 * placeholder that still waits gets the reason why its stack is missing. The reason depends on the
 * cookie being open: deferred_resolve_missing() takes the open cookies of the last
 * deferred_read_open_cookies(), deferred_end_file() reads the open cookies first. */
int deferred_resolve_missing(struct recording *recording);
int deferred_end_file(struct recording *recording);

#endif
