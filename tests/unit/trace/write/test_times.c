/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files with accounts of threads' time have a version of their own, and the accounts are read back
 * unchanged. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data_folder.h"
#include "recording.h"
#include "trace/read/reader.h"
#include "trace_file.h"
#include "unit_test.h"

static u32 write_with(u32 times, struct recording **recording)
{
	const struct recording_shape shape = {.seed = 7,
					      .cpus = 1,
					      .sources = 1,
					      .stacks = 1,
					      .tasks = 1,
					      .events = 10,
					      .times = times};
	struct trace_file_header header;
	FILE *file;

	*recording = recording_create(&shape);
	assert_int_equal(recording_write(*recording, path, NULL, NULL), 0);
	file = fopen(path, "re");
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	fclose(file);
	return header.version;
}

TEST(accounts_come_back, make_directory, remove_directory)
{
	const struct thread_account *accounts;
	struct recording *recording;
	struct trace_reader *reader;
	u32 version = write_with(1000, &recording);

	assert_int_equal(version, TRACE_FILE_VERSION_TIMES);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	assert_true(trace_reader_info(reader)->has_times);
	assert_int_equal(trace_reader_accounts(reader, &accounts), 1000);
	assert_memory_equal(accounts, recording->accounts, 1000 * sizeof(*accounts));
	trace_reader_close(&reader);
	recording_free(&recording);
}

TEST(without_accounts_the_version_is_the_old_one, make_directory, remove_directory)
{
	const struct thread_account account = {.end = 1}, *accounts;
	const struct trace_info info = {
		.hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};
	struct recording *recording;
	struct trace_writer *writer;
	struct trace_reader *reader;
	u32 version = write_with(0, &recording);

	assert_int_equal(version, TRACE_FILE_VERSION);
	recording_free(&recording);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_false(trace_reader_info(reader)->has_times);
	assert_int_equal(trace_reader_accounts(reader, &accounts), 0);
	trace_reader_close(&reader);
	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_thread_account(writer, &account), -EINVAL);
	trace_writer_discard(&writer);
}

TEST(an_account_that_ends_before_it_begins_is_refused, make_directory, remove_directory)
{
	const struct thread_account account = {.begin = 2, .end = 1};
	const struct trace_info info = {.has_times = 1,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_thread_account(writer, &account), -EINVAL);
	trace_writer_discard(&writer);
}
