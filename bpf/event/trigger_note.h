/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notes events that are triggers (abi/trigger_state.h), and ends the events of an instance that has
 * stopped itself. Each program of events calls this code first, before it takes a scratch slot or a
 * slot of the ring.
 */
#ifndef BPF_TRIGGER_NOTE_H
#define BPF_TRIGGER_NOTE_H

#include "state/ring_slots.h"
#include "state/triggers.h"

/*
 * Notes the event if its kind is a trigger. Returns 0 if a trigger has stopped the instance before
 * this event, else 1. A global function: verified once for all programs.
 */
__noinline int record_trigger_event(u32 event_kind)
{
	u32 key = 0;
	struct trigger_state *state = bpf_map_lookup_elem(&triggers, &key);
	u64 kind = event_kind, stop, now;
	struct trigger_row *row;

	core_one_register(kind);
	if (!state || kind >= KIND_SOURCES)
		return 1;
	row = &state->row[kind];
	stop = atomic_load_relaxed(&state->stop_time);
	if (!row->marks && !stop)
		return 1;
	if (paused & PAUSE_USER)
		return 1; /* event_begin() counts the event */
	now = bpf_ktime_get_ns();
	if (!stop && row->marks & TRIGGER_STOPS) {
		stop = atomic_cas_acq_rel(&state->stop_time, 0, now);
		if (!stop) {
			state->stop_kind = kind + 1;
			stop = now;
		}
	}
	if (stop && stop != now && now > stop + state->delay)
		return 0;
	if (row->marks & TRIGGER_WATCHED)
		row->time = now;
	return 1;
}

/* False: the instance has stopped itself, so the event is not produced. */
static __always_inline bool record_trigger_unless_stopped(u32 kind)
{
	return !config.triggers || record_trigger_event(kind);
}

#endif
