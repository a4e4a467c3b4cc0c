/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program searches the tables of some files while other processes publish and delete them. The
 * map has room for only some of the tables, so the memory of chunks is reused soon. A search finds
 * the right rule or none.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/symbolizer/table_publish.h"
#include "symbol/unwind/code_rows.h"
#include "test_table_search.h"
#include "test_table_search.skel.h"
#include "unit_test.h"

#define CHUNKS 96 /* chunks in the map; the tables of all files need about 160 */
#define PUBLISHERS 2
#define SEARCHES 2000

static struct test_table_search_bpf *programs;
static struct file_table tables[FILES + 1];
static u32 *rounds; /* of all publishers */
static u32 rounds_wanted = 4000;

static void make_table(u32 number)
{
	struct code_rows rows = {};

	for (u32 row = 0; row < ROWS(number); row++) {
		const struct unwind_rule rule = {.cfa_offset = CFA_OFFSET(number, row)};

		assert_int_equal(code_rows_add(&rows, SPACING * row, SPACING * (row + 1), &rule),
				 0);
	}
	assert_int_equal(file_table_pack(&rows, &tables[number]), 0);
	code_rows_clear(&rows);
}

static int set_up(void **state)
{
	(void)state;
	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_ptr_not_equal(rounds, MAP_FAILED);
	for (u32 number = 1; number <= FILES; number++)
		make_table(number);
	programs = test_table_search_bpf__open();
	assert_non_null(programs);
	assert_int_equal(bpf_map__set_max_entries(programs->maps.file_tables, CHUNKS), 0);
	assert_int_equal(test_table_search_bpf__load(programs), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (u32 number = 1; number <= FILES; number++)
		file_table_clear(&tables[number]);
	test_table_search_bpf__destroy(programs);
	munmap(rounds, sizeof(*rounds));
	return 0;
}

static struct search_count search(void)
{
	struct search_count count = {.searches = SEARCHES};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &count, .ctx_size_in = sizeof(count));

	assert_int_equal(
		bpf_prog_test_run_opts(bpf_program__fd(programs->progs.search_all), &options), 0);
	assert_int_equal(count.found + count.missing + count.wrong, SEARCHES);
	assert_int_equal(count.wrong, 0);
	return count;
}

static int map_of_tables(void)
{
	return bpf_map__fd(programs->maps.file_tables);
}

TEST(a_published_table_is_found, set_up, tear_down)
{
	struct search_count count;

	count = search();
	assert_int_equal(count.missing, SEARCHES);
	assert_int_equal(table_publish(map_of_tables(), 3, &tables[3]), 0);
	count = search();
	assert_int_not_equal(count.found, 0);
	assert_int_not_equal(count.missing, 0);
	assert_int_equal(table_remove(map_of_tables(), 3), tables[3].count);
	count = search();
	assert_int_equal(count.missing, SEARCHES);
}

/* Publishes one table after the other, and deletes each after a moment. */
static void publish_for_ever(u32 seed)
{
	int map = map_of_tables();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		u32 number = 1 + (u32)rand_r(&seed) % FILES;

		while (table_publish(map, number, &tables[number]))
			table_remove(map, 1 + (u32)rand_r(&seed) % FILES);
		__atomic_fetch_add(rounds, 1, __ATOMIC_RELAXED);
	}
}

static pid_t start_publisher(u32 seed)
{
	pid_t pid = fork();

	if (!pid)
		publish_for_ever(seed);
	assert_true(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(no_rule_is_wrong_while_tables_come_and_go, set_up, tear_down)
{
	pid_t pids[PUBLISHERS];
	u64 found = 0;

	for (u32 i = 0; i < PUBLISHERS; i++)
		pids[i] = start_publisher(i);
	while (__atomic_load_n(rounds, __ATOMIC_RELAXED) < rounds_wanted)
		found += search().found;
	for (u32 i = 0; i < PUBLISHERS; i++)
		end(pids[i]);
	assert_int_not_equal(found, 0);
}

/* test_table_search [ROUNDS] */
int main(int count, char **words)
{
	if (count > 1)
		rounds_wanted = (u32)atoi(words[1]);
	libbpf_set_print(NULL);
	return unit_tests_run();
}
