/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is kept open stays readable when its path leads elsewhere, unless its content has
 * changed. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_record.h"
#include "symbol/file/kept_code.h"
#include "symbol/file/mapped_file.h"
#include "unit_test.h"

#define PATH_BYTES 128

static char folder[] = "/tmp/test_kept_code.XXXXXX";
static struct kept_code *code;

struct file {
	char path[PATH_BYTES];
	struct mapping_record record;
};

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* Makes a file whose content is its number. */
static void make(struct file *file, u32 number)
{
	char text[16];

	snprintf(file->path, sizeof(file->path), "%s/%u", folder, number);
	snprintf(text, sizeof(text), "%u", number);
	write_text(file->path, text);
	sample_record_file(&file->record, file->path);
}

static void make_kept(struct file *file, u32 number)
{
	make(file, number);
	kept_code_keep(code, &file->record, file->path, mapped_file_open);
}

static int open_kept_test_file(const struct file *file)
{
	return kept_code_open(code, &file->record, file->path, mapped_file_open);
}

static void expect(const struct file *file, u32 number)
{
	char text[16] = "", expected[16];
	int opened = open_kept_test_file(file);

	assert_true(opened >= 0);
	assert_true(fcntl(opened, F_GETFD) & FD_CLOEXEC);
	assert_true(pread(opened, text, sizeof(text) - 1, 0) > 0);
	snprintf(expected, sizeof(expected), "%u", number);
	assert_string_equal(text, expected);
	close(opened);
}

static u32 open_files(void)
{
	u32 count = 0;

	for (int i = 0; i < 4096; i++)
		count += fcntl(i, F_GETFD) >= 0;
	return count;
}

static int setup(void **state)
{
	(void)state;
	return kept_code_create(&code);
}

static int teardown(void **state)
{
	u32 before = open_files();

	(void)state;
	kept_code_free(&code);
	assert_null(code);
	kept_code_free(&code);
	return open_files() > before;
}

TEST(a_file_that_is_deleted, setup, teardown)
{
	struct file kept, other;

	make_kept(&kept, 1);
	make(&other, 2);
	unlink(kept.path);
	unlink(other.path);
	expect(&kept, 1);
	expect(&kept, 1);
	assert_int_equal(open_kept_test_file(&other), -ENOENT);
}

TEST(a_file_that_is_replaced, setup, teardown)
{
	struct file kept, other;

	make_kept(&kept, 1);
	make(&other, 2);
	assert_int_equal(rename(other.path, kept.path), 0);
	expect(&kept, 1);
}

/* The old content is gone; no recorded process has run the new content. */
TEST(a_file_that_is_written, setup, teardown)
{
	struct file kept;

	make_kept(&kept, 1);
	do
		write_text(kept.path, "other");
	while (open_kept_test_file(&kept) != -ENOENT);
}

TEST(a_file_that_was_not_there, setup, teardown)
{
	struct file kept;

	make(&kept, 1);
	unlink(kept.path);
	kept_code_keep(code, &kept.record, kept.path, mapped_file_open);
	assert_int_equal(open_kept_test_file(&kept), -ENOENT);
}

TEST(the_oldest_make_room, setup, teardown)
{
	struct file *files = calloc(KEPT_CODE_FILES + 2, sizeof(*files));
	u32 before = open_files(), number;

	assert_non_null(files);
	for (number = 0; number < KEPT_CODE_FILES + 2; number++) {
		make_kept(&files[number], number);
		kept_code_keep(code, &files[number].record, files[number].path, mapped_file_open);
		assert_int_equal(unlink(files[number].path), 0);
	}
	assert_true(open_files() <= before + KEPT_CODE_FILES);
	assert_int_equal(open_kept_test_file(&files[0]), -ENOENT);
	assert_int_equal(open_kept_test_file(&files[1]), -ENOENT);
	expect(&files[number - 1], number - 1);
	free(files);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[PATH_BYTES];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command);
}

TEST_GROUP(make_folder, remove_folder)
