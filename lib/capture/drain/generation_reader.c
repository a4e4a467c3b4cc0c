/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A swap is published when all events of the generation before are committed. So what is in the
 * rings when the reader sees it is all that can name a stack of that one; and of what it has read,
 * only the deferred stacks that wait for their events, which take their frames along.
 */
#include "capture/drain/generation_reader.h"

#include "capture/drain/deferred.h"
#include "capture/load/skeleton.h"

void generation_peek(struct recording *recording)
{
	u64 published = generation_published(recording->loaded);
	u32 cpu;

	if (published == recording->generation_seen)
		return;
	recording->generation_seen = published;
	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		recording->cpus[cpu].swap_end =
			__atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	}
}

static bool generation_is_read(const struct recording *recording)
{
	u32 cpu;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		if (ring.header->tail < recording->cpus[cpu].swap_end)
			return false;
	}
	return true;
}

int generation_retire(struct recording *recording)
{
	u64 *done = &loaded_programs(recording->loaded)->bss->generation_done;
	u64 before = recording->generation_seen - 1;
	int result;

	if (__atomic_load_n(done, __ATOMIC_RELAXED) >= before || !generation_is_read(recording))
		return 0;
	result = recording->deferred ? deferred_keep_frames(recording, before) : 0;
	if (!result)
		__atomic_store_n(done, before, __ATOMIC_RELEASE);
	return result;
}
