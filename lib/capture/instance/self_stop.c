/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/instance/self_stop.h"

#include <time.h>

#include "clock.h"

void self_stop_read(const struct loaded *loaded, struct self_stop *stop)
{
	const struct trigger_state *state = loaded_triggers(loaded);
	u64 kind = __atomic_load_n(&state->stop_kind, __ATOMIC_ACQUIRE);
	u64 now = clock_ns(CLOCK_MONOTONIC);

	*stop = (struct self_stop){
		.delay = state->delay,
		.time = __atomic_load_n(&state->stop_time, __ATOMIC_ACQUIRE),
		.name = "?",
	};
	if (!stop->time)
		return;
	if (kind && kind <= loaded->sources->count)
		stop->name = loaded->sources->sources[kind - 1].name;
	stop->realtime = clock_ns(CLOCK_REALTIME) - (now - stop->time);
	stop->is_over = now > stop->time + stop->delay;
}

bool self_stop_has(const struct loaded *loaded, u32 kind)
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
}
