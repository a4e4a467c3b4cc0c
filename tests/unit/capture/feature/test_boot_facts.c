/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stored facts are found again in the same boot, and only if no other user could have written them.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/feature/boot_facts.h"
#include "unit_test.h"

struct place {
	char base[64], folder[96], file[128];
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->base, "/tmp/boot_facts.XXXXXX");
	if (!mkdtemp(place->base))
		return -1;
	snprintf(place->folder, sizeof(place->folder), "%s/stackmap", place->base);
	snprintf(place->file, sizeof(place->file), "%s/facts", place->folder);
	*state = place;
	return 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;

	unlink(place->file);
	rmdir(place->folder);
	rmdir(place->base);
	free(place);
	return 0;
}

static void add_line(const struct place *place, const char *line)
{
	FILE *file = fopen(place->file, "a");

	assert_non_null(file);
	fputs(line, file);
	assert_int_equal(fclose(file), 0);
}

TEST(stored_facts_are_found, make_place, remove_place)
{
	const struct place *place = *state;

	assert_int_equal(boot_fact_read(place->folder, "one thing"), -1);
	boot_fact_store(place->folder, "one thing", true);
	boot_fact_store(place->folder, "another", false);
	assert_int_equal(boot_fact_read(place->folder, "one thing"), 1);
	assert_int_equal(boot_fact_read(place->folder, "another"), 0);
	assert_int_equal(boot_fact_read(place->folder, "one"), -1);
	assert_int_equal(boot_fact_read(place->folder, "thing"), -1);
	assert_int_equal(boot_fact_read(place->folder, ""), -1);
}

TEST(the_last_fact_counts, make_place, remove_place)
{
	const struct place *place = *state;

	boot_fact_store(place->folder, "it", true);
	boot_fact_store(place->folder, "it", false);
	assert_int_equal(boot_fact_read(place->folder, "it"), 0);
}

TEST(facts_of_another_boot_are_ignored, make_place, remove_place)
{
	const struct place *place = *state;

	boot_fact_store(place->folder, "ours", true);
	add_line(place, "01234567-89ab-cdef-0123-456789abcdef 1 theirs\n");
	add_line(place, "01234567-89ab-cdef-0123-456789abcdef 0 ours\n");
	assert_int_equal(boot_fact_read(place->folder, "theirs"), -1);
	assert_int_equal(boot_fact_read(place->folder, "ours"), 1);
}

TEST(damaged_facts_are_ignored, make_place, remove_place)
{
	const struct place *place = *state;
	char id[64];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%63s", id), 1);
	fclose(file);
	boot_fact_store(place->folder, "first", true);
	add_line(place, "\n \n1\n");
	add_line(place, id);
	add_line(place, "\n");
	add_line(place, id);
	add_line(place, " 2 number\n");
	add_line(place, id);
	add_line(place, " 1 cut");
	assert_int_equal(boot_fact_read(place->folder, "number"), -1);
	assert_int_equal(boot_fact_read(place->folder, "cut"), -1);
	assert_int_equal(boot_fact_read(place->folder, "first"), 1);
}

TEST(facts_that_others_can_write_are_ignored, make_place, remove_place)
{
	const struct place *place = *state;

	boot_fact_store(place->folder, "it", true);
	assert_int_equal(chmod(place->file, 0666), 0);
	assert_int_equal(boot_fact_read(place->folder, "it"), -1);
	assert_int_equal(chmod(place->file, 0644), 0);
	assert_int_equal(chmod(place->folder, 0777), 0);
	assert_int_equal(boot_fact_read(place->folder, "it"), -1);
	assert_int_equal(chmod(place->folder, 0755), 0);
	assert_int_equal(boot_fact_read(place->folder, "it"), 1);
}

/* A file of another type, a link, or a too large file is neither read nor written, and opening it
 * does not wait. */
TEST(other_files_are_left_alone, make_place, remove_place)
{
	const struct place *place = *state;
	struct stat status;

	assert_int_equal(mkdir(place->folder, 0755), 0);
	assert_int_equal(mkfifo(place->file, 0644), 0);
	assert_int_equal(boot_fact_read(place->folder, "it"), -1);
	boot_fact_store(place->folder, "it", true);
	assert_int_equal(unlink(place->file), 0);

	assert_int_equal(symlink("/etc/passwd", place->file), 0);
	assert_int_equal(boot_fact_read(place->folder, "it"), -1);
	boot_fact_store(place->folder, "it", true);
	assert_int_equal(unlink(place->file), 0);

	boot_fact_store(place->folder, "it", true);
	assert_int_equal(truncate(place->file, 65536), 0);
	assert_int_equal(boot_fact_read(place->folder, "it"), -1);
	boot_fact_store(place->folder, "it", true);
	assert_int_equal(stat(place->file, &status), 0);
	assert_int_equal(status.st_size, 65536);
}

TEST(a_name_that_is_too_long_is_not_kept, make_place, remove_place)
{
	const struct place *place = *state;
	char name[300] = {};

	memset(name, 'n', sizeof(name) - 1);
	boot_fact_store(place->folder, name, true);
	assert_int_equal(boot_fact_read(place->folder, name), -1);
}
