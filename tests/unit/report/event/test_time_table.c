/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accounts of threads' time, by thread and in sum. */
#include "report/event/time_table.h"

#include <string.h>
#include <unistd.h>

#include "trace/write/writer.h"
#include "unit_test.h"

static char path[] = "time_table.data";
static struct trace_reader *reader;

/* A process of two threads, a process with a reused id, and a sum of ended processes. */
static const struct thread_account accounts[] = {
	{.begin = 100,
	 .end = 200,
	 .spent = {10, 20, 30, 25, 15},
	 .stolen = 3,
	 .tid = 10,
	 .tgid = 10},
	{.begin = 110, .end = 210, .spent = {60, 40}, .stolen = (u64)-5, .tid = 11, .tgid = 10},
	{.begin = 100, .end = 150, .spent = {50}, .tid = 20, .tgid = 20},
	{.begin = 160, .end = 190, .spent = {0, 30}, .tid = 20, .tgid = 20},
	{.begin = 195, .end = 200, .spent = {0, 0, 5}, .tid = 20, .tgid = 20},
	{.begin = 100, .end = 107, .spent = {7}, .tid = 0, .tgid = 0},
};

static int open_recording(void **state)
{
	const struct trace_info info = {.has_times = 1,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct trace_task tasks[] = {
		{.tid = 10, .tgid = 10, .cgroup = 1, .comm = "server"},
		{.tid = 11, .tgid = 10, .cgroup = 1, .comm = "worker"},
		{.tid = 20, .tgid = 20, .cgroup = 2, .comm = "first"},
		{.tid = 20, .tgid = 20, .cgroup = 2, .time = 155, .comm = "again"},
	};
	const struct trace_cgroup cgroups[] = {{.id = 5, .path = "/a"}, {.id = 6, .path = "/b"}};
	struct trace_writer *writer;
	u32 number;

	(void)state;
	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(trace_writer_cgroup(writer, &cgroups[i], &number), 0);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(trace_writer_task(writer, &tasks[i]), 0);
	for (u32 i = 0; i < 6; i++)
		assert_int_equal(trace_writer_thread_account(writer, &accounts[i]), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	unlink(path);
	return 0;
}

static int close_recording(void **state)
{
	(void)state;
	trace_reader_close(&reader);
	return 0;
}

static struct time_table *table_by(enum time_key key, const struct event_filter *filter)
{
	static const struct event_filter all;
	struct time_table *table;

	assert_int_equal(time_table_create(reader, filter ?: &all, key, NULL, &table), 0);
	assert_int_equal(table->difference, 0);
	return table;
}

TEST(threads_come_by_how_long_they_wanted_a_cpu, open_recording, close_recording)
{
	struct time_table *table = table_by(TIME_BY_THREAD, NULL);

	assert_int_equal(table->count, 5);
	assert_int_equal(table->rows[0].tid, 11);
	assert_int_equal(table->rows[0].stolen, 0); /* negative differences are noise */
	assert_string_equal(table->rows[1].comm, "first");
	assert_string_equal(table->rows[2].comm, "server");
	assert_int_equal(time_row_blocked(&table->rows[2]), 70);
	assert_int_equal(table->all.life, 292);
	assert_int_equal(table->all.threads, 6);
	time_table_free(&table);
}

TEST(an_id_that_was_given_again_is_another_thread, open_recording, close_recording)
{
	struct time_table *table = table_by(TIME_BY_THREAD, NULL);
	const struct time_row *again = &table->rows[3];

	assert_int_equal(again->tid, 20);
	assert_string_equal(again->comm, "again");
	assert_int_equal(again->threads, 2);
	assert_int_equal(again->life, 35);
	time_table_free(&table);
}

TEST(ended_threads_without_room_have_a_row, open_recording, close_recording)
{
	struct time_table *table = table_by(TIME_BY_THREAD, NULL);

	assert_int_equal(table->rows[4].tid, 0);
	assert_int_equal(table->rows[4].spent[TIME_RUNNING], 7);
	assert_non_null(strstr(table->rows[4].comm, "no room"));
	time_table_free(&table);
}

TEST(threads_add_up_to_processes_and_cgroups, open_recording, close_recording)
{
	struct time_table *table = table_by(TIME_BY_PROCESS, NULL);

	assert_int_equal(table->rows[0].tgid, 10);
	assert_string_equal(table->rows[0].comm, "server");
	assert_int_equal(table->rows[0].life, 200);
	time_table_free(&table);
	table = table_by(TIME_BY_CGROUP, NULL);
	assert_string_equal(table->rows[0].cgroup, "/a");
	assert_int_equal(table->rows[0].spent[TIME_RUNNABLE], 60);
	assert_string_equal(table->rows[1].cgroup, "/b");
	assert_int_equal(table->rows[1].threads, 3);
	time_table_free(&table);
}

TEST(filters_choose_threads, open_recording, close_recording)
{
	struct event_filter filter = {.from = 1000, .to = 1001};
	struct time_table *table;

	assert_int_equal(number_list_parse_and_append(&filter.tids, "11,20", UINT32_MAX), 0);
	table = table_by(TIME_BY_COMM, &filter);
	assert_int_equal(table->count, 3);
	assert_int_equal(table->all.life, 185);
	time_table_free(&table);
	number_list_clear(&filter.tids);
}
