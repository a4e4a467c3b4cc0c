/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind rules of a mapped file, as a sandbox sends them; test_eh_rows.c checks that the rules
 * are right. */
#include <errno.h>
#include <stdint.h>

#include "sample_record.h"
#include "symbol/file/mapped_file.h"
#include "symbol/symbolizer/symbol_lookup.h"
#include "unit_test.h"

static struct symbol_lookup *lookup;
static struct code_rows rows;

static int setup(void **state)
{
	(void)state;
	return symbol_lookup_create(4, &lookup);
}

static int teardown(void **state)
{
	(void)state;
	code_rows_clear(&rows);
	symbol_lookup_free(&lookup);
	return 0;
}

static int ask(const struct mapping_record *record)
{
	return symbol_lookup_read_unwind_rows(lookup, record, mapped_file_open, -1, true, &rows);
}

TEST(the_code_of_a_file_has_rules, setup, teardown)
{
	struct mapping_record record;
	u64 offset;
	u32 row = 0;

	assert_true(sample_record_mapped(&record, test_the_code_of_a_file_has_rules));
	offset = (uintptr_t)test_the_code_of_a_file_has_rules - record.start + record.offset;
	assert_int_equal(ask(&record), 0);
	assert_true(code_rows_are_sound(&rows));
	while (row + 1 < rows.count && rows.rows[row + 1].offset <= offset)
		row++;
	assert_true(row + 1 < rows.count && rows.rows[row].rule);
}

/* The table of a file that was written since, or of another file, would be wrong. */
TEST(another_file_has_no_rules, setup, teardown)
{
	struct mapping_record record;

	assert_true(sample_record_mapped(&record, test_another_file_has_no_rules));
	record.key.since++;
	assert_int_equal(ask(&record), -ENOENT);
	record.key.since--;
	record.key.inode++;
	assert_int_equal(ask(&record), -ENOENT);
	assert_int_equal(rows.count, 0);
}

/* The file matches the record when it is opened, and no longer when it has been read. */
static struct mapping_record changed;

static int open_and_change(const struct mapping_record *record, const char *path)
{
	int file = mapped_file_open(record, path);

	changed.key.since++;
	return file;
}

TEST(a_file_that_changes_meanwhile_has_no_rules, setup, teardown)
{
	assert_true(
		sample_record_mapped(&changed, test_a_file_that_changes_meanwhile_has_no_rules));
	assert_int_equal(
		symbol_lookup_read_unwind_rows(lookup, &changed, open_and_change, -1, true, &rows),
		-ESTALE);
}

/* The sandbox goes on after such a file. */
TEST(a_file_that_is_no_program_has_no_rules, setup, teardown)
{
	struct mapping_record record;
	u32 pid = symbol_lookup_sandbox_pid(lookup);

	sample_record_file(&record, "/etc/passwd");
	assert_int_equal(ask(&record), -ENOEXEC);
	assert_int_equal(symbol_lookup_sandbox_pid(lookup), pid);
	assert_int_equal(symbol_lookup_take_failures(lookup), 0);
}
