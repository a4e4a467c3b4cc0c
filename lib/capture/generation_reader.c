/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A swap is published when all events of the generation before are committed. So what is in the
 * rings when the reader sees it is all that can name a stack of that one; and of what it has read,
 * only the answers that wait for their events, which take their frames along.
 */
#include "capture/generation_reader.h"

#include "capture/answers.h"
#include "capture/load/skeleton.h"

void generation_look(struct capture *capture)
{
	u64 published = generation_published(capture);
	u32 cpu;

	if (published == capture->generations.seen)
		return;
	capture->generations.seen = published;
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);

		capture->cpus[cpu].swap_end = __atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	}
}

bool generation_is_read(const struct capture *capture)
{
	u32 cpu;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);

		if (ring.header->tail < capture->cpus[cpu].swap_end)
			return false;
	}
	return true;
}

int generation_settle(struct capture *capture)
{
	u64 *done = &capture_programs(capture)->bss->generation_done;
	u64 before = capture->generations.seen - 1;
	int result;

	if (__atomic_load_n(done, __ATOMIC_RELAXED) >= before || !generation_is_read(capture))
		return 0;
	result = capture->join ? answers_keep_frames(capture, before) : 0;
	if (!result)
		__atomic_store_n(done, before, __ATOMIC_RELEASE);
	return result;
}
