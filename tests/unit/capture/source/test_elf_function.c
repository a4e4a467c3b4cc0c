/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Offsets of functions, checked by the code at the offset; and files that are cut off or have a
 * wrong byte anywhere. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/source/program_file.h"
#include "unit_test.h"

#define CODE_BYTES 8

struct wanted {
	const char *name;
	u64 offset;
	int found;
	int ifuncs;
};

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int open_target(void)
{
	return open_file(PROBE_TARGET);
}

static int compare_with_wanted_function(void *arg, const struct elf_function *function)
{
	struct wanted *wanted = arg;

	if (strcmp(function->name, wanted->name))
		return 0;
	wanted->offset = function->offset;
	wanted->found++;
	wanted->ifuncs += function->is_ifunc;
	return 0;
}

static struct wanted find_function_in_file(const char *path, const char *name)
{
	struct wanted wanted = {.name = name};
	int fd = open_file(path);

	assert_int_equal(elf_function_each(fd, compare_with_wanted_function, &wanted), 0);
	close(fd);
	return wanted;
}

static struct wanted find(const char *name)
{
	return find_function_in_file(PROBE_TARGET, name);
}

TEST(the_code_lies_at_the_offset)
{
	void *library = dlopen(PROBE_TARGET, RTLD_NOW);
	struct wanted wanted = find("probe_target_two");
	unsigned char code[CODE_BYTES];
	int fd = open_target();

	assert_non_null(library);
	assert_int_equal(wanted.found, 2); /* .symtab and .dynsym */
	assert_int_equal(pread(fd, code, CODE_BYTES, wanted.offset), CODE_BYTES);
	assert_memory_equal(code, dlsym(library, "probe_target_two"), CODE_BYTES);
	close(fd);
	dlclose(library);
}

TEST(aliases_lie_at_one_place)
{
	assert_int_equal(find("probe_target_alias").offset, find("probe_target_one").offset);
	assert_int_not_equal(find("probe_target_one").offset, 0);
}

TEST(local_functions_are_found)
{
	assert_int_equal(find("probe_target_hidden").found, 1);
}

TEST(versions_are_no_part_of_the_name)
{
	assert_int_equal(find("probe_target_versioned").found, 2); /* .symtab and .dynsym */
}

TEST(an_ifunc_is_marked)
{
	struct wanted wanted = find("probe_target_chosen");

	assert_int_equal(wanted.ifuncs, wanted.found);
	assert_true(wanted.found > 0);
	assert_int_equal(find("probe_target_one").ifuncs, 0);
}

TEST(undefined_functions_are_not_there)
{
	assert_true(find_function_in_file(PROBE_TARGET_AT_ZERO, "probe_target_two").found > 0);
	assert_int_equal(find_function_in_file(PROBE_TARGET_AT_ZERO, "getpid").found, 0);
}

static int stop_early(void *arg, const struct elf_function *function)
{
	(void)function;
	++*(int *)arg;
	return 3;
}

TEST(the_walk_stops_on_demand)
{
	int count = 0, fd = open_target();

	assert_int_equal(elf_function_each(fd, stop_early, &count), 3);
	assert_int_equal(count, 1);
	close(fd);
}

TEST(other_files_are_refused)
{
	int fd = memfd_create("text", MFD_CLOEXEC), count = 0;

	assert_int_equal(elf_function_each(fd, stop_early, &count), -ENOEXEC);
	assert_int_equal(write(fd, "!<arch>\n", 8), 8);
	assert_int_equal(elf_function_each(fd, stop_early, &count), -ENOEXEC);
	assert_int_equal(elf_function_each(-1, stop_early, &count), -ENOEXEC);
	assert_int_equal(count, 0);
	close(fd);
}

static unsigned char *read_target(size_t *bytes)
{
	int fd = open_target();
	struct stat status;
	unsigned char *image;

	assert_int_equal(fstat(fd, &status), 0);
	*bytes = status.st_size;
	image = malloc(*bytes);
	assert_non_null(image);
	assert_int_equal(read(fd, image, *bytes), *bytes);
	close(fd);
	return image;
}

static int read_all_of_function(void *arg, const struct elf_function *function)
{
	*(u64 *)arg += function->offset + strlen(function->name);
	return 0;
}

static void walk_image(const unsigned char *image, size_t bytes)
{
	int fd = memfd_create("image", MFD_CLOEXEC), err;
	u64 sum = 0;

	assert_int_equal(write(fd, image, bytes), bytes);
	err = elf_function_each(fd, read_all_of_function, &sum);
	assert_true(err == 0 || err == -ENOEXEC);
	close(fd);
}

TEST(a_file_cut_off_anywhere_is_survived)
{
	size_t bytes;
	unsigned char *image = read_target(&bytes);

	for (size_t length = 0; length < bytes; length += 13)
		walk_image(image, length);
	free(image);
}

TEST(a_wrong_byte_anywhere_is_survived)
{
	size_t bytes;
	unsigned char *image = read_target(&bytes);

	for (size_t i = 0; i < bytes; i++) {
		image[i] ^= 0xff;
		walk_image(image, bytes);
		image[i] ^= 0xff;
	}
	free(image);
}
