/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/instance/self_stop.h"

#include <time.h>

#include "clock.h"

/*
 * The first process that calls the function computes the CLOCK_REALTIME of the event and stores it
 * for all later processes. The two clocks cannot be read at one instant, so each process would
 * compute another time. If the instance was rearmed meanwhile, the process clears the time that it
 * has stored.
 */
static u64 find_or_store_stop_realtime(struct trigger_state *state, u64 time)
{
	u64 now = clock_ns(CLOCK_MONOTONIC), stored = 0;
	u64 computed = clock_ns(CLOCK_REALTIME) - (now - time);

	if (!__atomic_compare_exchange_n(&state->stop_realtime, &stored, computed, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return stored;
	if (__atomic_load_n(&state->stop_time, __ATOMIC_ACQUIRE) != time)
		__atomic_store_n(&state->stop_realtime, 0, __ATOMIC_RELEASE);
	return computed;
}

void self_stop_read(const struct loaded *loaded, struct self_stop *stop)
{
	struct trigger_state *state = loaded_triggers(loaded);
	u64 time = __atomic_load_n(&state->stop_time, __ATOMIC_ACQUIRE);
	u64 kind = __atomic_load_n(&state->stop_kind, __ATOMIC_ACQUIRE);

	*stop = (struct self_stop){.delay = state->delay, .name = "?"};
	if (!time || !kind) /* the BPF program sets the time first, then the kind */
		return;
	stop->time = time;
	if (kind <= loaded->sources->count)
		stop->name = loaded->sources->sources[kind - 1].name;
	stop->realtime = find_or_store_stop_realtime(state, stop->time);
	stop->is_over = clock_ns(CLOCK_MONOTONIC) > stop->time + stop->delay;
}

bool self_stop_is_caused_by_source(const struct loaded *loaded, u32 kind)
{
	return kind < KIND_SOURCES && loaded_triggers(loaded)->row[kind].marks & TRIGGER_STOPS;
}

void self_stop_rearm(struct loaded *loaded)
{
	struct trigger_state *state = loaded_triggers(loaded);
	struct self_stop stop;

	self_stop_read(loaded, &stop);
	if (!stop.is_over)
		return;
	__atomic_store_n(&state->stop_kind, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&state->stop_time, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&state->stop_realtime, 0, __ATOMIC_RELEASE);
}
