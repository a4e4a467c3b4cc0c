/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits are added to an array. Whenever the array has four times as many waits as the page shows,
 * all but the longest waits of each thread are dropped, so a wait is sorted a constant number of
 * times on average. */
#include "flamegraph/thread_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "order.h"

static int compare_by_descending_length(const void *left, const void *right)
{
	const struct thread_wait *a = left, *b = right;

	return order(a->thread, b->thread) ?: order(b->length, a->length) ?: order(a->begin, b->begin);
}

static int compare_by_thread_and_begin(const void *left, const void *right)
{
	const struct thread_wait *a = left, *b = right;

	return order(a->thread, b->thread) ?: order(a->begin, b->begin) ?: order(a->source, b->source);
}

/* Returns the number of waits that are left if at most `most` of each thread are kept. The waits
 * are sorted by thread. */
static u32 count_waits_to_keep(const struct thread_waits *waits, u32 most)
{
	u32 kept = 0, of_thread = 0;

	for (u32 i = 0; i < waits->count; i++) {
		if (i && waits->waits[i].thread != waits->waits[i - 1].thread)
			of_thread = 0;
		kept += of_thread++ < most;
	}
	return kept;
}

static void drop_short_waits(struct thread_waits *waits)
{
	u32 most = WAITS_MAX, kept = 0, of_thread = 0, thread = 0;

	if (waits->count <= WAITS_MAX)
		return;
	qsort(waits->waits, waits->count, sizeof(*waits->waits), compare_by_descending_length);
	while (most > 1 && count_waits_to_keep(waits, most) > WAITS_MAX)
		most /= 2;
	for (u32 i = 0; i < waits->count && kept < WAITS_MAX; i++) {
		const struct thread_wait wait = waits->waits[i];

		if (wait.thread != thread)
			of_thread = 0;
		thread = wait.thread;
		if (of_thread++ < most)
			waits->waits[kept++] = wait;
	}
	waits->count = kept;
}

int thread_waits_add(struct thread_waits *waits, const struct thread_wait *wait)
{
	if (waits->count >= 4 * WAITS_MAX)
		drop_short_waits(waits);
	if (array_make_room(waits->waits, waits->count, waits->room))
		return -ENOMEM;
	waits->waits[waits->count++] = *wait;
	return 0;
}

void thread_waits_finish(struct thread_waits *waits)
{
	drop_short_waits(waits);
	if (waits->count)
		qsort(waits->waits, waits->count, sizeof(*waits->waits),
		      compare_by_thread_and_begin);
}

void thread_waits_clear(struct thread_waits *waits)
{
	free(waits->waits);
	*waits = (struct thread_waits){};
}

void queued_works_init(struct queued_works *works)
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

static u64 make_paths_key(const struct time_cell *cell)
{
	return cell->user | (u64)cell->kernel << 32;
}

int queued_works_add(struct queued_works *works, const struct time_cell *work,
		     const struct time_cell *origin)
{
	struct intern_key key = {{work->thread, origin->thread, work->source}};
	const void *threads = intern_find_or_add_entry(&works->threads, &key);
	struct queued_work *sum;

	key = (struct intern_key){
		{make_paths_key(work), make_paths_key(origin), intern_word_of_address(threads)}};
	sum = threads ? intern_find_or_add_entry(&works->works, &key) : NULL;
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

static int compare_by_descending_events(const void *left, const void *right)
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
	qsort(works->shown, count, sizeof(*works->shown), compare_by_descending_events);
	works->shown_count = count < QUEUED_WORK_MAX ? count : QUEUED_WORK_MAX;
	return 0;
}
