/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums of the events in queued work, by their stack and by the thread and stack that queued the
 * work (record --origins). */
#ifndef LIB_FLAMEGRAPH_QUEUED_WORK_H
#define LIB_FLAMEGRAPH_QUEUED_WORK_H

#include "flamegraph/time_cells.h"

#define QUEUED_WORK_MAX 4096U /* sums that the page has: those of most events */

struct queued_work {
	struct intern_key
		key; /* paths of the event, of the origin, the two threads and the source */
	struct time_cell work, origin; /* paths, thread, source; count and value of the work */
};

struct queued_works {
	struct intern threads; /* thread, thread of the origin, source */
	struct intern works;
	struct queued_work **shown; /* set by queued_works_choose() */
	u32 shown_count;
};

void queued_works_begin(struct queued_works *works);
void queued_works_clear(struct queued_works *works);
int queued_works_add(struct queued_works *works, const struct time_cell *work,
		     const struct time_cell *origin); /* -ENOMEM */

/* Called once: chooses the sums that the page has. -ENOMEM. */
int queued_works_choose(struct queued_works *works);

#endif
