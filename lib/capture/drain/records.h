/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One record of a ring after the other, and what becomes of it in the file. Errors are the
 * writer's, and -ENOMEM. */
#ifndef LIB_CAPTURE_RECORDS_H
#define LIB_CAPTURE_RECORDS_H

#include "capture/drain/recording.h"

/* Before the rings are read: no stamp is much later than now. */
void records_begin_round(struct recording *recording);

/* Does with the record at `position` what is to be done with it. */
typedef int (*take_record)(struct recording *recording, const struct ring_view *ring, u64 position,
			   u32 cpu);

/* An event, or a task's name, into the file. */
int records_take_event(struct recording *recording, const struct ring_view *ring, u64 position,
		       u32 cpu);
int records_take_task(struct recording *recording, const struct ring_view *ring, u64 position,
		      u32 cpu);
/* If it is a deferred stack: to the events that wait for it. */
int records_take_deferred_stack(struct recording *recording, const struct ring_view *ring,
				u64 position, u32 cpu);

/* The records from `position` up to `end`, all of them: the first error. */
int records_each(struct recording *recording, const struct ring_view *ring, u64 position, u64 end,
		 u32 cpu, take_record take);

#endif
