/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The object of a frame, the offset in it, and the bounds of the function. */
#include "report/event/stack_hash.h"

#include <string.h>
#include <unistd.h>

#include "trace/write/writer.h"
#include "unit_test.h"

#define KERNEL 0xffffffff81000000
#define MODULE 0xffffffffc0000000
#define UNNAMED_MODULE 0xffffffffc0100000
#define PROGRAM 0xffffffffc1000100

#define LIBC 1
#define LOCAL 2
#define JIT 3
#define JIT_BASE 0x7f0000000000

static const char path[] = "frame_identity.data";

static void write_places(struct trace_writer *writer)
{
	const struct trace_module modules[] = {
		{"ext4", MODULE, MODULE + 0x10000, 1, {0xcc}},
		{"vmlinux", KERNEL, KERNEL + 0x1000000, 2, {0xaa, 0xbb}},
		{"local", UNNAMED_MODULE, UNNAMED_MODULE + 0x10000, 0, {0}},
	};
	const struct trace_mapping mappings[] = {
		{LIBC, MAPPING_FILE, 7, 1, {0x56}, 0, "/usr/lib/libc.so.6"},
		{.number = LOCAL, .kind = MAPPING_FILE, .path = "/opt/local"},
		{.number = JIT, .kind = MAPPING_ANON, .base = JIT_BASE, .path = "[anon]"},
	};
	const struct trace_symbol symbols[] = {
		{0, KERNEL + 0x1000, 0x100, "schedule", 0},
		{0, PROGRAM, 0x80, "bpf_prog_x", 0},
		{LIBC, 0x2000, 0x40, "read", 0},
		{JIT, 0x100, 0x100, "interpret", 0},
		{JIT, 0x400, 0x100, "", 0},
	};

	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(trace_writer_module(writer, &modules[i]), 0);
		assert_int_equal(trace_writer_mapping(writer, &mappings[i]), 0);
	}
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(trace_writer_symbol(writer, &symbols[i]), 0);
}

static struct trace_reader *make_recording_of_host(const char *host)
{
	const struct trace_info info = {.cpus = 1,
					.hostname = host,
					.kernel = "6.1.0",
					.machine = "x86_64",
					.command = "",
					.version = ""};
	const struct trace_ledger ledger = {};
	struct trace_writer *writer;
	struct trace_reader *reader;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	write_places(writer);
	assert_int_equal(trace_writer_ledger(writer, &ledger, NULL, 0), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	unlink(path);
	return reader;
}

static struct trace_reader *reader;
static struct frame_identities *identities;

static int open_recording(void **state)
{
	(void)state;
	reader = make_recording_of_host("here");
	return frame_identities_create(reader, &identities);
}

static int close_recording(void **state)
{
	(void)state;
	frame_identities_free(&identities);
	assert_null(identities);
	trace_reader_close(&reader);
	return 0;
}

static void assert_place(u64 frame, enum frame_role role, enum frame_identity_kind kind,
			 const char *object, u64 offset, u64 start)
{
	const struct frame_place place = frame_identities_find_place(identities, frame, role);

	assert_int_equal(place.object.kind, kind);
	assert_string_equal(place.object.path, object);
	assert_int_equal(place.offset, offset);
	assert_int_equal(place.start, start);
	assert_int_equal(place.object.is_kernel, FRAME_IS_KERNEL(frame));
}

TEST(code_with_a_build_id_lies_in_its_file)
{
	assert_place(FRAME_USER(LIBC, 0x2010), FRAME_RETURN, FRAME_BY_BUILD_ID,
		     "/usr/lib/libc.so.6", 0x2010, 0x2000);
	assert_place(KERNEL + 0x1040, FRAME_RETURN, FRAME_BY_BUILD_ID, "[kernel.kallsyms]", 0x1040,
		     0x1000);
	assert_place(MODULE + 0x30, FRAME_RETURN, FRAME_BY_BUILD_ID, "[ext4]", 0x30, 0);
}

TEST(a_leaf_is_the_start_of_its_function)
{
	assert_place(FRAME_USER(LIBC, 0x2010), FRAME_LEAF, FRAME_BY_BUILD_ID, "/usr/lib/libc.so.6",
		     0x2000, 0x2000);
	assert_place(FRAME_USER(LIBC, 0x3010), FRAME_LEAF, FRAME_BY_BUILD_ID, "/usr/lib/libc.so.6",
		     0x3010, 0);
	assert_place(PROGRAM + 0x20, FRAME_LEAF, FRAME_BY_NAME, "[kernel.kallsyms]", 0, 0);
}

/* If a call is the last instruction of its function, its return address belongs to the next
 * function. */
TEST(a_return_address_is_of_the_byte_before)
{
	const struct frame_place place =
		frame_identities_find_place(identities, FRAME_USER(LIBC, 0x2040), FRAME_RETURN);

	assert_non_null(place.symbol);
	assert_string_equal(place.symbol->name, "read");
	assert_int_equal(place.offset, 0x2040);
	assert_int_equal(frame_identity_lookup_offset(place.offset, FRAME_RETURN), 0x203f);
	assert_int_equal(frame_identity_lookup_offset(0x2000, FRAME_LEAF), 0x2000);
	assert_int_equal(frame_identity_lookup_offset(0, FRAME_RETURN), 0);
}

/* The pc is at a probe at the start of a function, or at a system call that is the last
 * instruction. */
TEST(an_executed_address_is_not_moved)
{
	struct frame_place place =
		frame_identities_find_place(identities, FRAME_USER(LIBC, 0x2000), FRAME_EXECUTED);

	assert_string_equal(place.symbol->name, "read");
	assert_int_equal(frame_identity_lookup_offset(place.offset, FRAME_EXECUTED), 0x2000);
	place = frame_identities_find_place(identities, FRAME_USER(LIBC, 0x2020), FRAME_EXECUTED);
	assert_int_equal(place.offset, 0x2020);
	place = frame_identities_find_place(identities, FRAME_USER(LIBC, 0x2040), FRAME_EXECUTED);
	assert_null(place.symbol);
}

TEST(generated_code_is_its_function)
{
	assert_place(FRAME_USER(JIT, 0x120), FRAME_RETURN, FRAME_BY_NAME, "[anon]", 0x20, 0);
	assert_place(PROGRAM + 0x20, FRAME_RETURN, FRAME_BY_NAME, "[kernel.kallsyms]", 0x20, 0);
	assert_place(FRAME_USER(JIT, 0x420), FRAME_RETURN, FRAME_BY_HOST, "[anon]",
		     JIT_BASE + 0x420, JIT_BASE + 0x400);
	assert_place(FRAME_USER(JIT, 0x720), FRAME_RETURN, FRAME_BY_HOST, "[anon]",
		     JIT_BASE + 0x720, 0);
}

TEST(unidentified_code_belongs_to_its_host)
{
	assert_place(FRAME_USER(LOCAL, 0x40), FRAME_RETURN, FRAME_BY_HOST, "/opt/local", 0x40, 0);
	assert_place(UNNAMED_MODULE + 0x40, FRAME_RETURN, FRAME_BY_HOST, "[local]", 0x40, 0);
	assert_place(KERNEL - 0x40, FRAME_RETURN, FRAME_BY_HOST, "[kernel.kallsyms]", KERNEL - 0x40,
		     0);
	assert_place(FRAME_USER(MAPPING_UNKNOWN, 0x40), FRAME_RETURN, FRAME_UNKNOWN, "", 0, 0);
}

static struct frame_identity identity_at(u64 frame)
{
	const struct frame_place place =
		frame_identities_find_place(identities, frame, FRAME_RETURN);

	return frame_identities_of_place(identities, &place);
}

/* The id of a mapping differs from the id of a function inside it. */
TEST(objects_have_different_ids)
{
	const u64 frames[] = {
		KERNEL + 0x1040,	 MODULE + 0x30,
		UNNAMED_MODULE + 0x30,	 PROGRAM + 0x20,
		KERNEL - 0x40,		 FRAME_USER(LIBC, 0x2010),
		FRAME_USER(LOCAL, 0x40), FRAME_USER(JIT, 0x120),
		FRAME_USER(JIT, 0x420),	 FRAME_USER(MAPPING_UNKNOWN, 0x40),
	};

	for (u32 i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		struct frame_identity one = identity_at(frames[i]);
		struct frame_identity again = identity_at(frames[i]);

		assert_memory_equal(&one, &again, sizeof(one));
		for (u32 before = 0; before < i; before++) {
			struct frame_identity other = identity_at(frames[before]);

			assert_memory_not_equal(one.object, other.object, sizeof(one.object));
		}
	}
}

static bool has_same_identity_on_other_host(struct frame_identities *elsewhere, u64 frame)
{
	const struct frame_place place =
		frame_identities_find_place(elsewhere, frame, FRAME_RETURN);
	struct frame_identity there = frame_identities_of_place(elsewhere, &place);
	struct frame_identity here = identity_at(frame);

	return !memcmp(&there, &here, sizeof(here));
}

TEST(only_code_of_the_host_differs_elsewhere)
{
	struct trace_reader *other = make_recording_of_host("there");
	struct frame_identities *elsewhere;

	assert_int_equal(frame_identities_create(other, &elsewhere), 0);
	assert_true(has_same_identity_on_other_host(elsewhere, KERNEL + 0x1040));
	assert_true(has_same_identity_on_other_host(elsewhere, FRAME_USER(LIBC, 0x2010)));
	assert_true(has_same_identity_on_other_host(elsewhere, FRAME_USER(JIT, 0x120)));
	assert_true(has_same_identity_on_other_host(elsewhere, FRAME_USER(MAPPING_UNKNOWN, 0x40)));
	assert_false(has_same_identity_on_other_host(elsewhere, FRAME_USER(LOCAL, 0x40)));
	assert_false(has_same_identity_on_other_host(elsewhere, UNNAMED_MODULE + 0x40));
	frame_identities_free(&elsewhere);
	trace_reader_close(&other);
}

TEST_GROUP(open_recording, close_recording)
