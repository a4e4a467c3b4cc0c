/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables in a small map: eviction, chunks that killed processes leave, and several processes in
 * parallel. test_table_search.c checks that a search meanwhile finds no wrong rule. */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/symbolizer/table_publish.h"
#include "unit_test.h"

#define ROOM 40
#define CHUNKS_MAX 12
#define LONG_AGO 100 /* FILE_TABLE_TIME() */
#define NUMBERS 20
#define PROCESSES 3
#define KILLS 200

static int map = -1;
static struct file_table_chunk chunks[CHUNKS_MAX];
static u32 *rounds; /* rounds of each process */

static int make_map(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);

	return bpf_map_create(BPF_MAP_TYPE_HASH, "file_tables", sizeof(u64),
			      sizeof(struct file_table_chunk), ROOM, &options);
}

static int set_up(void **state)
{
	(void)state;
	map = make_map();
	return map < 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(map);
	return 0;
}

/* The table of a file, whose chunks contain the file's number. */
static struct file_table table_of(u32 number, u32 count)
{
	memset(chunks, 0, sizeof(chunks));
	for (u32 i = 0; i < count; i++)
		chunks[i].word[0] = number * 100 + i;
	return (struct file_table){.chunks = chunks, .count = count};
}

static int publish(u32 number, u32 count)
{
	struct file_table table = table_of(number, count);

	return table_publish(map, number, &table);
}

static u64 root_key(u32 number)
{
	return FILE_TABLE_KEY(number, FILE_TABLE_ROOT);
}

/* Sets the time of a table's last use. */
static void set_last_use_of_table(u32 number, u32 ticks)
{
	struct file_table_chunk root;
	u64 key = root_key(number);

	assert_int_equal(table_map_get(map, key, &root), 0);
	root.used = current_file_table_time() - ticks;
	assert_int_equal(bpf_map_update_elem(map, &key, &root, BPF_EXIST), 0);
}

static void publish_unused(u32 number, u32 count)
{
	assert_int_equal(publish(number, count), 0);
	set_last_use_of_table(number, LONG_AGO);
}

static u32 count_chunks(void)
{
	u64 key, next;
	u32 count = 0;

	for (int none = table_map_next(map, NULL, &next); !none;
	     none = table_map_next(map, &key, &next)) {
		key = next;
		count++;
	}
	return count;
}

static u32 base_of(u32 number)
{
	struct file_table_chunk root;

	assert_int_equal(table_map_get(map, root_key(number), &root), 0);
	return root.base;
}

TEST(a_table_is_there_as_a_whole, set_up, tear_down)
{
	struct file_table_chunk chunk;
	u32 base;

	assert_false(is_table_in_map(map, 7));
	assert_int_equal(publish(7, 5), 0);
	assert_true(is_table_in_map(map, 7));
	base = base_of(7);
	for (u32 i = 0; i < 5; i++) {
		u32 index = i ? base + i : FILE_TABLE_ROOT;

		assert_int_equal(table_map_get(map, FILE_TABLE_KEY(7, index), &chunk), 0);
		assert_int_equal(chunk.word[0], 700 + i);
	}
	assert_int_equal(publish(8, 1), 0);
	assert_true(is_table_in_map(map, 8));
	assert_int_equal(count_chunks(), 6);
}

/* The published table stays unchanged; another table of the same file is refused. */
TEST(a_table_is_published_once, set_up, tear_down)
{
	u32 base;

	assert_int_equal(publish(7, 5), 0);
	base = base_of(7);
	assert_int_equal(publish(7, 5), 0);
	assert_int_equal(base_of(7), base);
	assert_int_equal(publish(7, 4), -ESTALE);
	assert_int_equal(count_chunks(), 5);
	assert_true(is_table_in_map(map, 7));
}

static int publish_partial(u32 number, u32 count)
{
	struct file_table table = table_of(number, count);

	chunks[FILE_TABLE_ROOT].is_partial = true;
	return table_publish(map, number, &table);
}

TEST(a_whole_table_takes_the_place_of_a_partial_one, set_up, tear_down)
{
	assert_int_equal(publish_partial(7, 5), 0);
	assert_true(is_table_in_map(map, 7));
	assert_false(is_table_in_map_and_not_partial(map, 7));
	assert_int_equal(publish_partial(7, 5), 0);
	assert_int_equal(publish(7, 5), 0);
	assert_true(is_table_in_map_and_not_partial(map, 7));
	assert_int_equal(count_chunks(), 5);
	assert_int_equal(publish_partial(7, 5), -ESTALE);
	assert_true(is_table_in_map_and_not_partial(map, 7));
	assert_int_equal(publish_partial(8, 4), 0);
	assert_int_equal(publish(8, 7), 0);
	assert_int_equal(count_chunks(), 12);
}

TEST(the_longest_unused_table_is_evicted, set_up, tear_down)
{
	for (u32 number = 1; number <= 4; number++)
		publish_unused(number, 10);
	set_last_use_of_table(3, LONG_AGO + 1);
	assert_int_equal(publish(5, 8), 0);
	assert_false(is_table_in_map(map, 3));
	set_last_use_of_table(1, LONG_AGO + 2);
	set_last_use_of_table(4, LONG_AGO + 1);
	assert_int_equal(publish(6, 12), 0);
	for (u32 number = 1; number <= 6; number++)
		assert_int_equal(is_table_in_map(map, number),
				 number == 2 || number == 4 || number == 5 || number == 6);
	assert_int_equal(count_chunks(), 40);
}

TEST(as_many_tables_as_needed_are_evicted, set_up, tear_down)
{
	for (u32 number = 1; number <= 8; number++) {
		publish_unused(number, 5);
		set_last_use_of_table(number, LONG_AGO + number);
	}
	assert_int_equal(publish(9, 12), 0);
	assert_int_equal(count_chunks(), 25 + 12);
	for (u32 number = 1; number <= 9; number++)
		assert_int_equal(is_table_in_map(map, number), number <= 5 || number == 9);
}

TEST(tables_in_use_stay, set_up, tear_down)
{
	for (u32 number = 1; number <= 4; number++)
		assert_int_equal(publish(number, 9), 0);
	set_last_use_of_table(2, TABLE_IDLE);
	assert_int_equal(publish(5, 9), -E2BIG);
	assert_int_equal(count_chunks(), 36);
	for (u32 number = 1; number <= 4; number++)
		assert_true(is_table_in_map(map, number));
	set_last_use_of_table(2, TABLE_IDLE + 1);
	assert_int_equal(publish(5, 9), 0);
	assert_false(is_table_in_map(map, 2));
}

/* The publisher was killed: some chunks are missing. */
TEST(an_unfinished_table_is_completed, set_up, tear_down)
{
	u32 base;

	assert_int_equal(publish(7, 8), 0);
	base = base_of(7);
	for (u32 i = 5; i < 8; i++)
		assert_int_equal(table_map_delete(map, FILE_TABLE_KEY(7, base + i)), 0);
	assert_false(is_table_in_map(map, 7));
	assert_int_equal(publish(7, 8), 0);
	assert_true(is_table_in_map(map, 7));
	assert_int_equal(base_of(7), base);
	assert_int_equal(count_chunks(), 8);
}

/* A process that deleted the root was killed before it deleted the chunks. */
TEST(chunks_without_a_root_are_deleted, set_up, tear_down)
{
	struct file_table_chunk root;

	assert_int_equal(publish(1, 12), 0);
	assert_int_equal(publish(2, 12), 0);
	assert_int_equal(table_map_get_and_delete(map, root_key(1), &root), 0);
	assert_int_equal(publish(1, 12), 0); /* next to the remaining chunks of the other table */
	assert_int_equal(count_chunks(), 35);
	assert_int_equal(publish(3, 12), 0);
	for (u32 number = 1; number <= 3; number++)
		assert_true(is_table_in_map(map, number));
	assert_int_equal(count_chunks(), 36);
}

static void stress_round(u32 *seed)
{
	u32 number = 1 + (u32)rand_r(seed) % NUMBERS;

	if (publish(number, 1 + number % CHUNKS_MAX))
		table_remove(map, 1 + (u32)rand_r(seed) % NUMBERS);
	__atomic_fetch_add(rounds, 1, __ATOMIC_RELAXED);
}

static pid_t start(u32 seed)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			stress_round(&seed);
	}
	assert_true(pid > 0);
	return pid;
}

static void await_rounds(u32 more)
{
	u32 end = __atomic_load_n(rounds, __ATOMIC_RELAXED) + more;

	while ((s32)(__atomic_load_n(rounds, __ATOMIC_RELAXED) - end) < 0)
		sched_yield();
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Checks that each table can be finished, and that each chunk then belongs to a table. */
static void check_all(void)
{
	u32 expected = 0;

	tables_evict(map, 0);
	for (u32 number = 1; number <= NUMBERS; number++) {
		struct file_table_chunk root;

		if (table_map_get(map, root_key(number), &root))
			continue;
		assert_int_equal(root.word[0], number * 100);
		assert_int_equal(root.chunks, 1 + number % CHUNKS_MAX);
		for (u32 i = 1; i < root.chunks; i++) {
			struct file_table_chunk chunk;

			if (table_map_get(map, FILE_TABLE_KEY(number, root.base + i), &chunk))
				continue;
			assert_int_equal(chunk.word[0], number * 100 + i);
			expected++;
		}
		expected++;
	}
	assert_int_equal(count_chunks(), expected);
	for (u32 number = 1; number <= NUMBERS; number++)
		table_remove(map, number);
	assert_int_equal(count_chunks(), 0);
}

TEST(processes_are_killed_anywhere, set_up, tear_down)
{
	pid_t pids[PROCESSES];
	u32 seed = 1;

	for (u32 i = 0; i < PROCESSES; i++)
		pids[i] = start(seed++);
	for (u32 i = 0; i < KILLS; i++) {
		u32 one = i % PROCESSES;

		await_rounds((u32)rand_r(&seed) % 20);
		end(pids[one]);
		pids[one] = start(seed + i);
	}
	for (u32 i = 0; i < PROCESSES; i++)
		end(pids[i]);
	check_all();
}

int main(void)
{
	int file = make_map();

	if (file < 0) {
		puts("no BPF maps can be made here");
		return 77;
	}
	close(file);
	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (rounds == MAP_FAILED)
		return 1;
	return unit_tests_run();
}
