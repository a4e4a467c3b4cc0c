/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A reset takes five steps. N is the generation that programs write; its table is the current
 * table, the other table is the spare table.
 *
 *   1. Generation N - 1 is not needed any more: the reader says so, or the rings are emptied.
 *   2. The spare loses its role; the kernel waits for programs that still use it (RCU).
 *   3. The spare becomes generation N + 1, empty.
 *   4. The current table becomes the previous one, the spare the current one. After the kernel has
 *      waited (RCU), all events that name a stack of N are committed.
 *   5. N + 1 is published. Without a reader the rings are emptied, so N is not needed any more.
 *
 * A reset that is killed after any step leaves a state from which the next reset goes on. If step 5
 * is missing after step 4, the current table is newer than the published generation. The kernel's
 * wait does not cover sleepable programs, so these hold the RCU lock from the lookup of the table
 * to the commit of their slot.
 */
#include "capture/instance/reset.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>

#include "capture/bpffs/folder.h"
#include "capture/instance/persist.h"
#include "capture/instance/ring_discard.h"
#include "capture/load/skeleton.h"
#include "error.h"

#define WAIT_MS 5
#define WAIT_WRITER_MS 1000
/* Time of one wait for the reader, ms; then this process tries to get the reader's lock. */
#define WAIT_READER_MS 50
#define WAITS_MAX 100

static void sleep_one_wait_interval(void)
{
	const struct timespec pause = {.tv_nsec = WAIT_MS * 1000000L};

	nanosleep(&pause, NULL);
}

static int set_reset_error(int result, struct stackmap_error *error)
{
	return error_set(error, -result, "reset: %s", strerror(-result));
}

int reset_make_second_table(struct loaded *loaded, struct stackmap_error *error)
{
	int result = generations_make_table(loaded);

	return result && result != -EEXIST ? set_reset_error(result, error) : 0;
}

static u64 *shared_word_of_done_generation(const struct loaded *loaded)
{
	return &loaded_programs(loaded)->bss->generation_done;
}

static bool is_generation_done(const struct loaded *loaded, u64 generation)
{
	return __atomic_load_n(shared_word_of_done_generation(loaded), __ATOMIC_ACQUIRE) >=
	       generation;
}

/* Does steps 2 to 5 of a reset, with the published generation in step 5. */
static int publish_new_table_generation(struct loaded *loaded, struct generation_table *current)
{
	struct generation_table *spare = &loaded->tables[current == &loaded->tables[0]];
	u64 next = generation_of_table(current) + 1;
	int result = generation_clear_previous(loaded);

	result = result ?: generation_reset_table(loaded, spare, next);
	result = result ?: generation_set_role(loaded, TABLE_PREVIOUS, current);
	result = result ?: generation_set_role(loaded, TABLE_CURRENT, spare);
	if (!result)
		generation_publish(loaded, next);
	return result;
}

static void read_ring_heads(struct loaded *loaded, u64 *heads)
{
	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(loaded, cpu);

		heads[cpu] = ring_head(&ring);
	}
}

/* Discards the events in the rings of a drain. False: a program still writes a slot before the
 * limit. */
static bool discard_drain_rings(struct loaded *loaded, const u64 *limits)
{
	bool all = true;

	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(loaded, cpu);

		ring.header->reset += ring_discard_drain(&ring, limits[cpu]);
		all = all && ring.header->tail >= limits[cpu];
	}
	return all;
}

/* Discards all events of generation `done` and of older generations, and marks `done` as not needed
 * any more. */
static int discard_events_of_old_generations(struct loaded *loaded, u64 done)
{
	u64 deferred_limits[CONFIG_CPUS_MAX], limits[CONFIG_CPUS_MAX];

	read_ring_heads(loaded, deferred_limits);
	read_ring_heads(loaded, limits);
	for (u32 ms = 0; !loaded->plan.config.flight && !discard_drain_rings(loaded, limits);
	     ms += WAIT_MS) {
		if (ms >= WAIT_WRITER_MS)
			return -EBUSY;
		sleep_one_wait_interval();
	}
	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(loaded, cpu);
		struct counted_table *table = loaded_counted_table(loaded, cpu);

		/* An event that is not discarded began after all `deferred_limits` were read, so
		 * its deferred stack is not discarded either. */
		if (loaded->plan.config.flight)
			ring.header->reset +=
				ring_discard_flight(&ring, limits[cpu], deferred_limits[cpu]);
		/* The rows that count events of full rings refer to stacks, too. */
		if (table)
			ring.header->reset += counted_table_discard(&loaded->plan.config, table);
		loaded_free_old_counted_rows(loaded, cpu);
	}
	__atomic_store_n(shared_word_of_done_generation(loaded), done, __ATOMIC_RELEASE);
	return 0;
}

static int prepare_tables_for_reset(struct loaded *loaded, struct generation_table **current,
				    struct stackmap_error *error)
{
	int result = reset_make_second_table(loaded, error);

	if (result)
		return result;
	*current = generation_current_table(loaded);
	if (!*current)
		return set_reset_error(-ENOENT, error);
	/* A reset that was killed may have swapped the tables without publishing the new
	 * generation. */
	if (generation_published(loaded) != generation_of_table(*current)) {
		generation_wait_for_programs(loaded);
		generation_publish(loaded, generation_of_table(*current));
	}
	return 0;
}

int reset_without_reader(struct loaded *loaded, struct stackmap_error *error)
{
	struct generation_table *current;
	int result = prepare_tables_for_reset(loaded, &current, error);
	u64 generation;

	if (result)
		return result;
	generation = generation_of_table(current);
	if (!is_generation_done(loaded, generation - 1))
		result = discard_events_of_old_generations(loaded, generation - 1);
	result = result ?: publish_new_table_generation(loaded, current);
	result = result ?: discard_events_of_old_generations(loaded, generation);
	return result ? set_reset_error(result, error) : 0;
}

int reset_with_reader(struct loaded *loaded, u32 wait_ms, struct stackmap_error *error)
{
	struct generation_table *current;
	int result = prepare_tables_for_reset(loaded, &current, error);

	if (result)
		return result;
	for (u32 ms = 0; !is_generation_done(loaded, generation_of_table(current) - 1);
	     ms += WAIT_MS) {
		if (ms >= wait_ms)
			return error_set(error, EBUSY,
					 "the reader is behind: it has not finished what was "
					 "recorded before the last reset");
		sleep_one_wait_interval();
	}
	result = publish_new_table_generation(loaded, current);
	return result ? set_reset_error(result, error) : 0;
}

int reset_pin_second_table(struct loaded *loaded, struct folder *folder,
			   struct stackmap_error *error)
{
	const struct generation_table *second = &loaded->tables[1];
	char pin[PIN_BYTES];
	int result;

	if (second->fd >= 0)
		return 0;
	result = reset_make_second_table(loaded, error);
	if (result)
		return result;
	pin_name_of_table(1, pin);
	return bpf_obj_pin(second->fd, folder_pin_path(folder, pin))
		       ? set_reset_error(-errno, error)
		       : 0;
}

/* If the reader exits during the wait, this process gets the reader's lock. */
int reset_instance(struct loaded *loaded, struct folder *folder, struct stackmap_error *error)
{
	int waits, result = reset_pin_second_table(loaded, folder, error);

	if (result)
		return result;
	if (loaded->plan.config.flight)
		return reset_without_reader(loaded, error);
	for (waits = 0, result = -EBUSY; result == -EBUSY && waits < WAITS_MAX; waits++) {
		result = folder_lock_reader(folder, error);
		if (!result)
			return reset_without_reader(loaded, error);
		if (result == -EBUSY)
			result = reset_with_reader(loaded, WAIT_READER_MS, error);
	}
	return result;
}

int reset_by_reader(struct loaded *loaded, const char *name, struct stackmap_error *error)
{
	struct folder *control;
	int result = folder_open(name, &control, error);

	if (result)
		return result;
	result = folder_lock(control, error) ?: reset_with_reader(loaded, 0, error);
	folder_close(&control);
	return result;
}
