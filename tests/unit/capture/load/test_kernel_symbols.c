/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program that lists the kernel's symbols writes what /proc/kallsyms shows, without data of the
 * kernel's image. The symbols that end the image's code are in the list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/feature/feature.h"
#include "capture/load/skeleton.h"
#include "symbol/file/whole_file.h"
#include "unit_test.h"

static struct capture_bpf *object;

static int load_kallsyms_program(void **state)
{
	struct bpf_program *program;
	struct bpf_map *map;

	(void)state;
	object = capture_bpf__open();
	if (!object)
		return -1;
	bpf_object__for_each_program(program, object->obj)
		bpf_program__set_autoload(program, false);
	bpf_program__set_autoload(object->progs.list_kernel_symbols, true);
	bpf_object__for_each_map(map, object->obj)
	{
		bpf_map__set_autocreate(map, false);
	}
	bpf_map__set_autocreate(object->maps.symbol_line, true);
	bpf_map__set_autocreate(object->maps.rodata, true);
	bpf_map__set_autocreate(object->maps.bss, true);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	capture_bpf__destroy(object);
	return 0;
}

/* The lines up to the first symbol of a BPF program, which come and go meanwhile. */
static char *static_lines(char *lines)
{
	char *program = strstr(lines, "\t[bpf]");

	if (program) {
		*program = 0;
		program = strrchr(lines, '\n');
		program[1] = 0;
	}
	return lines;
}

/* True for _etext and _einittext, which have the type of data on arm64. `name` ends with a
 * newline. */
static bool is_end_of_code(const char *name)
{
	return strncmp(name, "_etext\n", 7) == 0 || strncmp(name, "_einittext\n", 11) == 0;
}

/* Removes the lines "ADDRESS TYPE NAME" of a type other than code, but for the ends of code; those
 * of modules end in "<tab>[MODULE]". */
static char *without_data_of_image(char *lines)
{
	char *to = lines;

	for (char *line = lines, *next; *line; line = next) {
		char *newline = strchr(line, '\n'), *type = strchr(line, ' ');

		next = newline ? newline + 1 : line + strlen(line);
		if (memchr(line, '\t', next - line) ||
		    (type && (strchr("tTwW", type[1]) || is_end_of_code(type + 3)))) {
			memmove(to, line, next - line);
			to += next - line;
		}
	}
	*to = 0;
	return lines;
}

TEST(the_list_of_the_program_is_that_of_kallsyms_without_data, load_kallsyms_program, unload)
{
	struct feature_result feature;
	char *listed, *expected;
	size_t bytes;
	int link, list;

	feature_probe(FEATURE_SYMBOL_ITERATOR, &feature);
	if (!feature.works)
		skip();
	assert_int_equal(capture_bpf__load(object), 0);
	link = bpf_link_create(bpf_program__fd(object->progs.list_kernel_symbols), 0,
			       BPF_TRACE_ITER, NULL);
	assert_true(link >= 0);
	list = bpf_iter_create(link);
	assert_true(list >= 0);
	assert_int_equal(whole_file_read_open_until(list, "\t[bpf]", &listed, &bytes), 0);
	assert_int_equal(whole_file_read("/proc/kallsyms", &expected, &bytes), 0);
	assert_string_equal(static_lines(listed), without_data_of_image(static_lines(expected)));
	assert_true(strlen(listed) > 1 << 20);
	assert_non_null(strstr(listed, " _etext\n"));
	free(listed);
	free(expected);
	close(list);
	close(link);
}

/* bpf/thin_lines.py */
TEST(a_program_has_one_line_of_source_for_each_function, load_kallsyms_program, unload)
{
	struct feature_result feature;
	struct bpf_prog_info info = {};
	u32 bytes = sizeof(info);

	feature_probe(FEATURE_SYMBOL_ITERATOR, &feature);
	if (!feature.works)
		skip();
	assert_int_equal(capture_bpf__load(object), 0);
	assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(object->progs.list_kernel_symbols),
						&info, &bytes),
			 0);
	assert_true(info.nr_func_info);
	assert_int_equal(info.nr_line_info, info.nr_func_info);
}
