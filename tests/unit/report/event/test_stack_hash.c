/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash of a stack does not depend on load addresses. Recordings of two machines differ in
 * everything that must not count; then each part that must count is changed alone.
 */
#include "report/event/stack_hash.h"

#include <string.h>
#include <unistd.h>

#include "trace/write/writer.h"
#include "unit_test.h"

/* A machine, and the addresses of its code. */
struct machine {
	const char *host;
	u64 kernel, module, program; /* load addresses */
	u32 sh, libc, jit, local;    /* mapping numbers */
	u64 jit_offset;
};

static const struct machine here = {.host = "here",
				    .kernel = 0xffffffff81000000,
				    .module = 0xffffffffc0000000,
				    .program = 0xffffffffc1000100,
				    .sh = 1,
				    .libc = 2,
				    .jit = 3,
				    .local = 4,
				    .jit_offset = 0x100};
static const struct machine there = {.host = "there",
				     .kernel = 0xffffffffa7e00000,
				     .module = 0xffffffffc0431000,
				     .program = 0xffffffffc2000740,
				     .sh = 9,
				     .libc = 5,
				     .jit = 2,
				     .local = 1,
				     .jit_offset = 0x5340};

/* An event of this machine: a leaf, a kernel stack and a user stack. */
struct recorded {
	u64 leaf;
	u64 kernel[2], user[3];
	u32 kernel_depth, user_depth, user_flags;
	enum stack_reason reason; /* reason of a missing user stack (user_depth 0) */
	u8 build_id;		  /* build id of the program */
	const char *jit_name;
};

static struct recorded make_usual_recorded_stack(const struct machine *machine)
{
	return (struct recorded){
		.leaf = machine->kernel + 0x1010,
		.kernel = {machine->kernel + 0x2048, machine->module + 0x30},
		.kernel_depth = 2,
		.user = {FRAME_USER(machine->libc, 0x2010), FRAME_USER(machine->sh, 0x1040),
			 FRAME_USER(machine->sh, 0x1080)},
		.user_depth = 3,
		.build_id = 0x12,
		.jit_name = "interpret",
	};
}

static void write_places(struct trace_writer *writer, const struct machine *machine,
			 const struct recorded *recorded)
{
	const struct trace_module modules[] = {
		{"vmlinux", machine->kernel, machine->kernel + 0x1000000, 2, {0xaa, 0xbb}},
		{"ext4", machine->module, machine->module + 0x10000, 1, {0xcc}},
	};
	const struct trace_mapping mappings[] = {
		{machine->sh, MAPPING_FILE, 7, 2, {recorded->build_id, 0x34}, 0, machine->host},
		{machine->libc, MAPPING_FILE, 7, 1, {0x56}, 0, "/usr/lib/libc.so.6"},
		{.number = machine->local, .kind = MAPPING_FILE, .path = "/opt/local"},
		{.number = machine->jit,
		 .kind = MAPPING_ANON,
		 .base = machine->kernel >> 24 << 20,
		 .path = "[anon]"},
	};
	const struct trace_symbol symbols[] = {
		{0, machine->kernel + 0x1000, 0x100, "schedule", 0},
		{0, machine->program, 0x80, "bpf_prog_0123456789abcdef_on_sample", 0},
		{machine->jit, machine->jit_offset, 0x100, recorded->jit_name, 0},
	};

	for (u32 i = 0; i < 2; i++)
		assert_int_equal(trace_writer_module(writer, &modules[i]), 0);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(trace_writer_mapping(writer, &mappings[i]), 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(trace_writer_symbol(writer, &symbols[i]), 0);
}

static u32 write_stack(struct trace_writer *writer, u32 id, u32 flags, const u64 *frames, u32 depth)
{
	const struct trace_stack stack = {
		.id = id, .flags = flags, .generation = 1, .depth = depth, .frames = frames};
	u32 index = TRACE_NO_STACK;

	if (depth)
		assert_int_equal(trace_writer_stack(writer, &stack, &index), 0);
	return index;
}

static void write_recording(const char *path, const struct machine *machine,
			    const struct recorded *recorded)
{
	const struct trace_info info = {.cpus = 1,
					.hostname = machine->host,
					.kernel = "6.1.0",
					.machine = "x86_64",
					.command = "",
					.version = ""};
	const struct trace_source source = {"cpu-clock", TRACE_EXTRA_LEAF, ""};
	struct trace_event event = {
		.time = 1, .leaf = recorded->leaf, .tid = 7, .user_reason = recorded->reason};
	const struct trace_ledger ledger = {.produced = 1, .recorded = 1};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	write_places(writer, machine, recorded);
	event.kernel = write_stack(writer, 1, 0, recorded->kernel, recorded->kernel_depth);
	event.user = write_stack(writer, 2, STACK_USER | recorded->user_flags, recorded->user,
				 recorded->user_depth);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_ledger(writer, &ledger, NULL, 0), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

struct taking {
	struct stack_hashes *hashes;
	struct stack_hash hash;
};

static int take_twice(void *arg, const struct trace_event *event)
{
	struct taking *taking = arg;
	struct stack_hash again;

	taking->hash = stack_hashes_of_event(taking->hashes, event);
	again = stack_hashes_of_event(taking->hashes, event);
	assert_memory_equal(&taking->hash, &again, sizeof(again));
	return 0;
}

static struct stack_hash hash_of(const struct machine *machine, struct recorded recorded)
{
	static const char path[] = "stack_hash.data";
	struct trace_reader *reader;
	struct taking taking;

	write_recording(path, machine, &recorded);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_int_equal(stack_hashes_create(reader, &taking.hashes), 0);
	assert_int_equal(trace_reader_events(reader, take_twice, &taking, NULL), 0);
	stack_hashes_free(&taking.hashes);
	assert_null(taking.hashes);
	trace_reader_close(&reader);
	unlink(path);
	return taking.hash;
}

static bool are_stack_hashes_equal(struct stack_hash a, struct stack_hash b)
{
	return !memcmp(a.byte, b.byte, sizeof(a.byte));
}

TEST(one_stack_has_one_hash_on_all_machines)
{
	assert_true(are_stack_hashes_equal(hash_of(&here, make_usual_recorded_stack(&here)),
					   hash_of(&there, make_usual_recorded_stack(&there))));
}

/* All variants have hashes different from the usual one and from each other. */
TEST(each_relevant_difference_changes_the_hash)
{
	struct recorded made[12];
	struct stack_hash hashes[12];
	u32 count = 0;

	for (u32 i = 0; i < 12; i++)
		made[i] = make_usual_recorded_stack(&here);
	count++;
	made[count++].leaf = here.kernel + 0x5000;
	made[count++].leaf = 0;
	made[count++].leaf = FRAME_USER(here.sh, 0x1010);
	made[count++].kernel[0]++;
	made[count++].kernel[1] = here.kernel + 0x30;
	made[count++].kernel_depth = 1;
	made[count++].user[2]++;
	made[count++].user_depth = 2;
	made[count++].user_flags = STOP_NO_RULE << STACK_STOP_SHIFT;
	made[count++].build_id++;
	made[count].user_depth = 0;
	made[count++].reason = REASON_UNREADABLE;
	assert_int_equal(count, 12);
	for (u32 i = 0; i < count; i++) {
		hashes[i] = hash_of(&here, made[i]);
		for (u32 before = 0; before < i; before++)
			assert_false(are_stack_hashes_equal(hashes[before], hashes[i]));
	}
}

TEST(the_reason_of_a_missing_stack_counts)
{
	struct recorded changed = make_usual_recorded_stack(&here),
			gone = make_usual_recorded_stack(&here);

	changed.user_depth = gone.user_depth = 0;
	changed.reason = REASON_CHANGED;
	gone.reason = REASON_GONE;
	assert_false(are_stack_hashes_equal(hash_of(&here, changed), hash_of(&here, gone)));
}

TEST(a_leaf_counts_as_its_function)
{
	struct recorded one = make_usual_recorded_stack(&here),
			other = make_usual_recorded_stack(&there);

	other.leaf = there.kernel + 0x1060;
	assert_true(are_stack_hashes_equal(hash_of(&here, one), hash_of(&there, other)));
	one.leaf = here.kernel + 0x5000; /* an address that no symbol covers */
	other.leaf = there.kernel + 0x5060;
	assert_false(are_stack_hashes_equal(hash_of(&here, one), hash_of(&there, other)));
}

static struct recorded make_stack_with_generated_code(const struct machine *machine, u64 offset,
						      const char *name)
{
	struct recorded recorded = make_usual_recorded_stack(machine);

	recorded.user[1] = FRAME_USER(machine->jit, machine->jit_offset + offset);
	recorded.jit_name = name;
	return recorded;
}

TEST(generated_code_goes_by_its_name)
{
	struct stack_hash hash =
		hash_of(&here, make_stack_with_generated_code(&here, 0x20, "interpret"));

	assert_true(are_stack_hashes_equal(
		hash, hash_of(&there, make_stack_with_generated_code(&there, 0x20, "interpret"))));
	assert_false(are_stack_hashes_equal(
		hash, hash_of(&there, make_stack_with_generated_code(&there, 0x21, "interpret"))));
	assert_false(are_stack_hashes_equal(
		hash, hash_of(&there, make_stack_with_generated_code(&there, 0x20, "compile"))));
	assert_false(are_stack_hashes_equal(
		hash_of(&here, make_stack_with_generated_code(&here, 0x20, "")),
		hash_of(&there, make_stack_with_generated_code(&there, 0x20, ""))));
}

TEST(bpf_programs_go_by_their_name)
{
	struct recorded one = make_usual_recorded_stack(&here),
			other = make_usual_recorded_stack(&there);

	one.kernel[1] = here.program + 0x20;
	other.kernel[1] = there.program + 0x20;
	assert_true(are_stack_hashes_equal(hash_of(&here, one), hash_of(&there, other)));
	other.kernel[1]++;
	assert_false(are_stack_hashes_equal(hash_of(&here, one), hash_of(&there, other)));
}

/* The same path may be another file on another host. */
TEST(unidentified_code_counts_by_its_host)
{
	struct machine moved = there;
	struct recorded one = make_usual_recorded_stack(&here),
			other = make_usual_recorded_stack(&there);

	one.user[1] = FRAME_USER(here.local, 0x40);
	other.user[1] = FRAME_USER(there.local, 0x40);
	assert_false(are_stack_hashes_equal(hash_of(&here, one), hash_of(&there, other)));
	moved.host = here.host;
	assert_true(are_stack_hashes_equal(hash_of(&here, one), hash_of(&moved, other)));
}

TEST(a_mapping_that_is_not_known_is_one_place)
{
	struct recorded one = make_usual_recorded_stack(&here),
			other = make_usual_recorded_stack(&there);

	one.user[1] = FRAME_USER(MAPPING_UNKNOWN, 0x40);
	other.user[1] = FRAME_USER(MAPPING_UNKNOWN, 0x80);
	assert_true(are_stack_hashes_equal(hash_of(&here, one), hash_of(&there, other)));
}

/* Stores keep hashes, so the function must not change. The expected hash was computed by another
 * program, after the comments of stack_hash.h. */
TEST(the_hash_function_has_not_changed)
{
	static const u8 kept[] = {0xf0, 0x5a, 0x97, 0xe4, 0x3d, 0x8d, 0x58, 0xcc,
				  0x14, 0xa8, 0x7a, 0x86, 0x7c, 0x62, 0xd9, 0xe4};

	assert_memory_equal(hash_of(&here, make_usual_recorded_stack(&here)).byte, kept,
			    sizeof(kept));
}

static struct frame_identity make_identity_by_build_id(const u8 *build_id, u32 bytes, u64 offset)
{
	const struct frame_object object = {
		.kind = FRAME_BY_BUILD_ID, .build_id = build_id, .build_id_bytes = bytes};
	struct frame_identity identity = {.offset = offset};

	frame_object_id(&object, "anywhere", identity.object);
	return identity;
}

/* The parts of a stack that a store keeps. */
TEST(a_hash_can_be_computed_from_stored_parts)
{
	const struct frame_identity leaf =
		make_identity_by_build_id((const u8[]){0xaa, 0xbb}, 2, 0x1000);
	const struct frame_identity kernel[] = {
		make_identity_by_build_id((const u8[]){0xaa, 0xbb}, 2, 0x2048),
		make_identity_by_build_id((const u8[]){0xcc}, 1, 0x30),
	};
	const struct frame_identity user[] = {
		make_identity_by_build_id((const u8[]){0x56}, 1, 0x2010),
		make_identity_by_build_id((const u8[]){0x12, 0x34}, 2, 0x1040),
		make_identity_by_build_id((const u8[]){0x12, 0x34}, 2, 0x1080),
	};
	const struct stack_hash_part kernel_side = {"root", stack_hash_frames(kernel, 2)};
	const struct stack_hash_part user_side = {"root", stack_hash_frames(user, 3)};

	assert_true(are_stack_hashes_equal(
		hash_of(&here, make_usual_recorded_stack(&here)),
		stack_hash_join(STACK_LEAF_KERNEL, &leaf, &kernel_side, &user_side)));
}
