/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file `trace`: the events that were in the rings when the read began, those of all CPUs in the
 * order of time. An event that is overwritten or consumed before its turn is skipped.
 *
 * A ring is in the order of its positions, and nearly in that of time: a program takes its position
 * and then reads the clock, so a program that interrupts it in between has a later position and an
 * earlier time. Therefore the earliest event among the next few positions comes next.
 */
#ifndef BPF_SHOW_TRACE_H
#define BPF_SHOW_TRACE_H

#include "frame_text.h"
#include "ledger.h"
#include "ring.h"
#include "state/rings.h"
#include "task/task_names.h"

#define EVENTS_AT_ONCE 4096 /* most events that one call shows */
#define WINDOW 16	    /* number of positions in which the earliest event is searched */
#define WINDOWS_MAX (1U << 20)
#define NO_TIME (~0ULL)
/* most time after the begin of the read that a shown event can have */
#define SHOW_NS_MAX (3600ULL * 1000000000)

/*
 * Made and filled by user space: names of sources by kind. A value is as long as the longest name.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 1);
} source_names SEC(".maps");

/* The search for the next event of one CPU's ring. */
struct place_search {
	const struct reading *reading;
	struct ring_header *ring;
	struct ring_place *place;
};

static __always_inline bool is_slot_of_event(const struct event_slot *slot, u64 position)
{
	return atomic_load_acquire((u32 *)&slot->commit) == COMMIT_OF(position) &&
	       STAMP_KIND(slot->stamp) < KIND_SOURCES;
}

/* The full time of a stamp: the latest time with these low bits that is not after reading->next. */
static __always_inline u64 expand_stamp_to_full_time(const struct reading *reading, u64 stamp)
{
	u64 period = 1ULL << STAMP_TIME_BITS;
	u64 time = (reading->next & ~(period - 1)) | STAMP_TIME(stamp);

	return time > reading->next && time >= period ? time - period : time;
}

static __always_inline struct ring_place *ring_place_of(struct reading *reading, u32 cpu)
{
	u64 offset = cpu * sizeof(struct ring_place);

	core_one_register(offset);
	if (offset > (config.cpus - 1) * sizeof(struct ring_place))
		return NULL;
	core_one_register(offset); /* clang 19 would add the offset before the check */
	return (void *)reading->place + offset;
}

/* Compares the event at one position of the window with the earliest so far. */
static long window_compare_position(u32 i, struct place_search *search)
{
	struct ring_place *place = search->place;
	u64 position = place->position + i, time;
	const struct event_slot *slot = (const void *)ring_slot(search->ring, position);

	if (position >= place->end)
		return 1;
	if (place->done >> i & 1)
		return 0;
	if (!slot || !is_slot_of_event(slot, position)) {
		place->done |= 1ULL << i;
		return 0;
	}
	time = expand_stamp_to_full_time(search->reading, slot->stamp);
	if (time < place->time) {
		place->time = time;
		place->next = position;
	}
	return 0;
}

static long window_skip_done_position(u32 i, struct ring_place **context)
{
	struct ring_place *place = *context;

	if (!(place->done & 1))
		return 1;
	place->done >>= 1;
	place->position++;
	return 0;
}

/*
 * Searches the window for its earliest event. 1: an event was found, or the ring has no more
 * events.
 */
static long window_search(u32 i, struct place_search *search)
{
	struct ring_place *place = search->place;

	bpf_loop(WINDOW, window_skip_done_position, &place, 0);
	bpf_loop(WINDOW, window_compare_position, search, 0);
	return place->time != NO_TIME || place->position >= place->end;
}

/* Sets place->next to the position of the ring's next event. */
static __always_inline void ring_place_find_next(struct reading *reading, struct ring_place *place,
						 u32 cpu)
{
	struct place_search search = {.reading = reading, .place = place};

	search.ring = bpf_map_lookup_elem(&rings, &cpu);
	place->time = NO_TIME;
	if (search.ring)
		bpf_loop(WINDOWS_MAX, window_search, &search, 0);
}

/*
 * The first position to show. A flight ring is shown whole; before its first lap it has no older
 * events.
 */
static __always_inline u64 first_shown_ring_position(const struct ring_header *ring, u64 head)
{
	if (!config.flight)
		return atomic_load_acquire((u64 *)&ring->tail);
	return head > 2ULL * config.ring_slots ? head - config.ring_slots : config.ring_slots;
}

static long ring_place_begin(u32 cpu, struct reading **context)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	struct ring_place *place = ring_place_of(*context, cpu);

	if (!ring || !place)
		return 1;
	place->end = atomic_load_acquire(&ring->head);
	place->position = first_shown_ring_position(ring, place->end);
	place->done = 0;
	ring_place_find_next(*context, place, cpu);
	return 0;
}

struct earliest {
	struct reading *reading;
	u64 time;
	u32 cpu;
};

static long ring_place_compare(u32 cpu, struct earliest *earliest)
{
	const struct ring_place *place = ring_place_of(earliest->reading, cpu);

	if (!place)
		return 1;
	if (place->time < earliest->time) {
		earliest->time = place->time;
		earliest->cpu = cpu;
	}
	return 0;
}

static __always_inline void task_print(struct seq_file *seq, u32 tid)
{
	const struct task_name *known = bpf_map_lookup_elem(&task_names, &tid);
	struct task_name name = {.comm = "<...>"};
	u32 i;

	if (known)
		name = *known;
	for (i = 0; i < sizeof(name.comm); i++)
		if (name.comm[i] && !is_printable_ascii(name.comm[i]))
			name.comm[i] = '?';
	BPF_SEQ_PRINTF(seq, "%s-%u", (u64)name.comm, TID_SHOWN(tid));
}

/* These reasons are not printed: the task has no stack of this kind. */
#define SILENT_REASONS                                                                             \
	(1u << REASON_NOT_ASKED | 1u << REASON_NO_FRAMES | 1u << REASON_REFUSED |                  \
	 1u << REASON_INTERRUPT)
#define REASON_MASK 31u

_Static_assert(REASON_COUNT <= REASON_MASK + 1, "a reason is a bit of SILENT_REASONS");

/*
 * Prints why a stack is missing.
 *
 * The verifier of 6.18 miscalculates the range of a number after the signed comparisons that
 * compilers make of a switch: of a number known to be at least 12 it deduces at most 5, and warns
 * on the console. The range is therefore bounded from above, and no value is excluded before the
 * switch.
 */
static __always_inline void missing_stack_reason_print(struct seq_file *seq, u32 reason,
						       bool is_user)
{
	reason &= REASON_MASK;
	if (SILENT_REASONS >> reason & 1)
		return;
	if (is_user)
		BPF_SEQ_PRINTF(seq, " <no user_stack_id: ");
	else
		BPF_SEQ_PRINTF(seq, " <no stack_id: ");
	switch (reason) {
#define X(id, name, meaning)                                                                       \
	case REASON_##id:                                                                          \
		BPF_SEQ_PRINTF(seq, name ">");                                                     \
		break;
		STACK_REASONS(X)
#undef X
	}
}

static __always_inline void kernel_stack_print(struct seq_file *seq, const struct event_slot *slot)
{
	switch (EVENT_KERNEL_STATE(STAMP_FLAGS(slot->stamp))) {
	case STATE_ID:
		BPF_SEQ_PRINTF(seq, " <stack_id %u>", slot->kernel);
		break;
	case STATE_INLINE:
		BPF_SEQ_PRINTF(seq, " <stack in the ring>");
		break;
	default:
		missing_stack_reason_print(seq, slot->kernel, false);
	}
}

static __always_inline void user_stack_print(struct seq_file *seq, const struct event_slot *slot)
{
	switch (EVENT_USER_STATE(STAMP_FLAGS(slot->stamp))) {
	case STATE_ID:
		BPF_SEQ_PRINTF(seq, " <user_stack_id %u>", slot->user);
		break;
	case STATE_COOKIE:
		BPF_SEQ_PRINTF(seq, " <cookie %u>", slot->user);
		break;
	case STATE_INLINE:
		BPF_SEQ_PRINTF(seq, " <user stack in the ring>");
		break;
	default:
		missing_stack_reason_print(seq, slot->user, true);
	}
}

static __always_inline void event_print(struct seq_file *seq, const struct event_slot *slot,
					u64 leaf, u64 time, u32 cpu)
{
	u32 kind = STAMP_KIND(slot->stamp);
	const void *name = bpf_map_lookup_elem(&source_names, &kind);

	if (!name)
		return;
	task_print(seq, slot->tid);
	BPF_SEQ_PRINTF(seq, " [%03u] %llu.%06llu: %s:", cpu, time / 1000000000,
		       time / 1000 % 1000000, (u64)name);
	kernel_stack_print(seq, slot);
	user_stack_print(seq, slot);
	if (leaf) {
		BPF_SEQ_PRINTF(seq, " <leaf ");
		frame_name_print(seq, leaf, false);
		BPF_SEQ_PRINTF(seq, ">");
	}
	BPF_SEQ_PRINTF(seq, "\n");
}

/*
 * Prints the event at place->next. The slot is copied first; the copy counts if the slot still
 * holds the same event.
 */
static __always_inline void print_event_at_ring_place(struct file_show *show,
						      const struct ring_place *place, u32 cpu)
{
	struct ring_header *ring = bpf_map_lookup_elem(&rings, &cpu);
	const struct event_slot *slot;
	struct event_slot copy;
	u64 leaf = 0;

	slot = ring ? (const void *)ring_slot(ring, place->next) : NULL;
	if (!slot)
		return;
	copy = *slot;
	if (config.leaf)
		leaf = slot->extra[0];
	barrier_compiler();
	if (is_slot_of_event(slot, place->next))
		event_print(show->seq, &copy, leaf, place->time, cpu);
}

static long event_show(u32 i, struct file_show *show)
{
	struct earliest earliest = {.reading = show->reading, .time = NO_TIME};
	struct ring_place *place;

	if (is_buffer_full(show->seq))
		return 1;
	bpf_loop(CONFIG_CPUS_MAX, ring_place_compare, &earliest, 0);
	place = ring_place_of(show->reading, earliest.cpu);
	if (!place || earliest.time == NO_TIME) {
		show->reading->is_whole = 1;
		return 1;
	}
	print_event_at_ring_place(show, place, earliest.cpu);
	place->done |= 1ULL << (place->next - place->position);
	ring_place_find_next(show->reading, place, earliest.cpu);
	return 0;
}

static __always_inline void find_first_events_of_rings(struct reading *reading)
{
	reading->next = bpf_ktime_get_ns() + SHOW_NS_MAX;
	bpf_loop(CONFIG_CPUS_MAX, ring_place_begin, &reading, 0);
	reading->is_begun = 1;
}

SEC("iter/bpf_map_elem")
int show_trace(struct bpf_iter__bpf_map_elem *ctx)
{
	struct file_show show;
	int answer = file_show_begin(ctx, &show);

	if (answer != SHOW_MORE)
		return answer;
	if (!show.reading->is_begun)
		find_first_events_of_rings(show.reading);
	bpf_loop(EVENTS_AT_ONCE, event_show, &show, 0);
	return SHOW_DONE;
}

#endif
