/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels of kernel frames without a name in the recording, with and without a copy of kallsyms. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/name/frame_names.h"
#include "script.h"
#include "symbol/kernel/kernel_names.h"
#include "trace/write/writer.h"
#include "unit_test.h"

#define KERNEL 0xffffffff81000000ULL
#define NAMED (KERNEL + 0x1000)
#define NAMELESS (KERNEL + 0x2000)

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81001000 T schedule\n"
			       "ffffffff81001100 T do_exit\n"
			       "ffffffff81002000 T hidden\n"
			       "ffffffff81002100 T _etext\n";

static char recording[] = "/tmp/stackmap-names-XXXXXX", copy[] = "/tmp/stackmap-kallsyms-XXXXXX";
static struct kernel_names *kernel;
static char note[256];

/* Writes a recording. `kernel_start` 0: the kernel's address was hidden; `symbol_start` 0: no
 * symbol. */
static void write_recording(u64 kernel_start, u64 symbol_start)
{
	const struct trace_info info = {.address_shown = kernel_start != 0,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	const struct trace_module module = {
		.name = "vmlinux", .start = kernel_start, .end = kernel_start + 0x3000};
	const struct trace_mapping mapping = {
		.number = 3, .kind = MAPPING_FILE, .tgid = 1, .path = "/usr/bin/true"};
	const struct trace_symbol symbol = {
		.start = symbol_start, .size = 0x100, .name = "schedule"};
	const struct trace_ledger ledger = {};
	struct trace_writer *writer;

	unlink(recording); /* otherwise the writer would keep the old file under another name */
	assert_int_equal(trace_writer_create(recording, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_module(writer, &module), 0);
	assert_int_equal(trace_writer_mapping(writer, &mapping), 0);
	if (symbol_start)
		assert_int_equal(trace_writer_symbol(writer, &symbol), 0);
	assert_int_equal(trace_writer_ledger(writer, &ledger, NULL, 0), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

static void keep_note(void *arg, const struct trace_info *info, const char *why)
{
	(void)info;
	assert_ptr_equal(arg, note);
	snprintf(note, sizeof(note), "%s", why);
}

/* Checks the label of a frame. */
static void assert_label_of_frame(u64 frame, struct frame_naming naming, const char *label)
{
	struct trace_reader *reader;
	struct frame_names *names;

	note[0] = 0;
	naming.note = keep_note;
	naming.arg = note;
	assert_int_equal(trace_reader_open(recording, &reader, NULL), 0);
	assert_int_equal(frame_names_create(reader, &naming, &names), 0);
	assert_string_equal(frame_names_label(names, frame_names_find(names, frame, false)->label),
			    label);
	frame_names_free(&names);
	trace_reader_close(&reader);
}

/* In a merged recording, bits 48 to 62 of a kernel frame are the number of the machine, not of a
 * mapping. */
TEST(a_kernel_frame_is_in_no_mapping)
{
	write_recording(0, 0);
	assert_label_of_frame(FRAME_USER(3, 0x10), (struct frame_naming){}, "true+0x10");
	assert_label_of_frame(1ULL << 63 | FRAME_USER(3, 0x10), (struct frame_naming){},
			      "[unknown]");
}

static void write_functions_of(const char *path, const struct trace_symbol *symbols, u32 count)
{
	const struct trace_info info = {
		.hostname = "", .kernel = "", .machine = "", .command = "", .version = ""};
	const struct trace_mapping mapping = {
		.number = 3, .kind = MAPPING_FILE, .tgid = 1, .path = path};
	struct trace_writer *writer;

	unlink(recording);
	assert_int_equal(trace_writer_create(recording, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_mapping(writer, &mapping), 0);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(trace_writer_symbol(writer, &symbols[i]), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

static void write_functions(const struct trace_symbol *symbols, u32 count)
{
	write_functions_of("/usr/bin/true", symbols, count);
}

/* All code of a stripped program has one label, which is not a name. Functions that have a name
 * elsewhere get this name. */
TEST(a_function_without_a_name_is_its_range)
{
	static const struct trace_symbol symbols[] = {
		{3, 0x100, 0x80, ""},
		{3, 0x200, 0x10, ""},
		{3, 0x200, 0x20, "named"},
	};

	write_functions(symbols, 3);
	assert_label_of_frame(FRAME_USER(3, 0x100), (struct frame_naming){}, "true+0x100..0x180");
	assert_label_of_frame(FRAME_USER(3, 0x17f), (struct frame_naming){}, "true+0x100..0x180");
	assert_label_of_frame(FRAME_USER(3, 0x180), (struct frame_naming){}, "true+0x180");
	assert_label_of_frame(FRAME_USER(3, 0x208), (struct frame_naming){}, "named");
}

TEST(a_frame_of_an_inlined_function_has_the_mark)
{
	static const struct trace_symbol symbol = {3, 0x10000, 0x10000, "Calls.burn (Calls.java)"};

	write_functions_of(SCRIPT_NAME_JAVA_INLINED, &symbol, 1);
	assert_label_of_frame(FRAME_USER(3, 0x10001), (struct frame_naming){},
			      "Calls.burn (Calls.java) (inlined)");
	write_functions_of(SCRIPT_NAME_V8_INLINED, &symbol, 1);
	assert_label_of_frame(FRAME_USER(3, 0x10001), (struct frame_naming){},
			      "Calls.burn (Calls.java) (inlined)");
	write_functions_of(SCRIPT_NAME_JAVA_COMPILED, &symbol, 1);
	assert_label_of_frame(FRAME_USER(3, 0x10001), (struct frame_naming){},
			      "Calls.burn (Calls.java)");
}

TEST(a_copy_names_hidden_kernel_code)
{
	write_recording(0, 0);
	assert_label_of_frame(NAMELESS, (struct frame_naming){.kernel = kernel}, "hidden");
	assert_string_equal(note, "");
}

TEST(a_copy_of_the_same_boot_names_the_rest)
{
	write_recording(KERNEL, NAMED);
	assert_label_of_frame(NAMED, (struct frame_naming){.kernel = kernel}, "schedule");
	assert_label_of_frame(NAMELESS, (struct frame_naming){.kernel = kernel}, "hidden");
	assert_label_of_frame(NAMELESS, (struct frame_naming){.kernel = kernel, .many_boots = true},
			      "hidden");
	assert_string_equal(note, "");
}

TEST(a_copy_of_another_boot_is_ignored)
{
	write_recording(KERNEL + 0x200000, 0);
	assert_label_of_frame(NAMELESS, (struct frame_naming){.kernel = kernel},
			      "0xffffffff81002000");
	assert_non_null(strstr(note, "another boot or kernel"));
}

TEST(a_copy_of_another_kernel_is_ignored)
{
	write_recording(KERNEL, NAMED + 0x10);
	assert_label_of_frame(NAMELESS, (struct frame_naming){.kernel = kernel}, "vmlinux+0x2000");
	assert_non_null(strstr(note, "another boot or kernel"));
}

TEST(a_copy_is_ignored_if_many_boots_are_possible)
{
	write_recording(0, 0);
	assert_label_of_frame(NAMELESS, (struct frame_naming){.kernel = kernel, .many_boots = true},
			      "[unknown]");
	assert_non_null(strstr(note, "one by one"));
}

static int setup(void **state)
{
	int file = mkstemp(copy);

	(void)state;
	close(mkstemp(recording));
	if (write(file, kallsyms, strlen(kallsyms)) != (ssize_t)strlen(kallsyms) || close(file))
		return -1;
	return kernel_names_from_kallsyms(copy, &kernel, NULL);
}

static int teardown(void **state)
{
	(void)state;
	kernel_names_free(&kernel);
	return unlink(copy) | unlink(recording);
}

TEST_GROUP(setup, teardown)
