/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "flamegraph/queued_work.h"

#include <errno.h>
#include <stdlib.h>

#include "order.h"

void queued_works_begin(struct queued_works *works)
{
	*works = (struct queued_works){.threads = INTERN(struct intern_key),
				       .works = INTERN(struct queued_work)};
}

void queued_works_clear(struct queued_works *works)
{
	intern_clear(&works->threads);
	intern_clear(&works->works);
	free(works->shown);
	works->shown = NULL;
}

static u64 paths_of(const struct time_cell *cell)
{
	return cell->user | (u64)cell->kernel << 32;
}

int queued_works_add(struct queued_works *works, const struct time_cell *work,
		     const struct time_cell *origin)
{
	struct intern_key key = {{work->thread, origin->thread, work->source}};
	const void *threads = intern_entry(&works->threads, &key);
	struct queued_work *sum;

	key = (struct intern_key){{paths_of(work), paths_of(origin), intern_address(threads)}};
	sum = threads ? intern_entry(&works->works, &key) : NULL;
	if (!sum)
		return -ENOMEM;
	if (!sum->work.count) {
		sum->work = *work;
		sum->origin = *origin;
		sum->work.count = sum->work.value = 0;
	}
	sum->work.count += work->count;
	sum->work.value += work->value;
	return 0;
}

static int most_events_first(const void *left, const void *right)
{
	const struct queued_work *a = *(struct queued_work *const *)left;
	const struct queued_work *b = *(struct queued_work *const *)right;

	return order(b->work.count, a->work.count) ?: order(a->work.thread, b->work.thread)
		       ?: order(a->key.word[0], b->key.word[0])
		       ?: order(a->key.word[1], b->key.word[1])
		       ?: order(a->origin.thread, b->origin.thread)
		       ?: order(a->work.source, b->work.source);
}

int queued_works_choose(struct queued_works *works)
{
	u32 count = works->works.count;

	works->shown = calloc(count + 1UL, sizeof(*works->shown));
	if (!works->shown)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		works->shown[i] = works->works.entries[i];
	qsort(works->shown, count, sizeof(*works->shown), most_events_first);
	works->shown_count = count < QUEUED_WORK_MAX ? count : QUEUED_WORK_MAX;
	return 0;
}
