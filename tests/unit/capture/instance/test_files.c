/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the files of an instance with reads of the same memory by user space. The test fills the
 * stack map by the core's functions with stacks of every size, so all printed frames are known.
 * Runs in a mount namespace with a BPF file system of its own.
 */
#include "files_instance.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/instance/status.h"
#include "capture/load/skeleton.h"
#include "format/stack_map_bin_reader.h"
#include "stack_map.h"
#include "stack_pack.h"
#include "unit_test.h"

#define DEPTHS 6
#define FILE_NUMBER 1U
#define FILE_NAME "a file, with \nits name"
#define FILE_SHOWN "a file, with ?its name"

static const u32 depths[DEPTHS] = {1, 2, 3, 64, STACK_KERNEL_DEPTH_MAX, STACK_USER_DEPTH_MAX};

static int first_fd; /* table of the instance's first generation */
static void *first;

static void set_path_of_mapping_record(void)
{
	struct mapping_record *record = loaded_mapping_record(&capture->loaded, FILE_NUMBER);

	record->key.kind = MAPPING_FILE;
	record->path_whole = 1;
	record->path_bytes = sizeof(FILE_NAME) + sizeof("dir");
	memcpy(record->path, FILE_NAME "\0dir", record->path_bytes);
}

static void *map_table(int fd)
{
	void *memory = mmap(NULL, capture->loaded.plan.geometry.bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

static void open_table(void)
{
	u32 current = TABLE_CURRENT, id;

	assert_int_equal(
		bpf_map_lookup_elem(bpf_map__fd(loaded_programs(&capture->loaded)->maps.tables),
				    &current, &id),
		0);
	first_fd = bpf_map_get_fd_by_id(id);
	assert_true(first_fd >= 0);
	first = map_table(first_fd);
}

static void begin_with(struct files_options options)
{
	files_begin(options, USER_UNWIND_FP);
	set_path_of_mapping_record();
	open_table();
}

static int begin_alone(void **state)
{
	(void)state;
	begin_with((struct files_options){.group = FILES_NO_GROUP});
	return 0;
}

static int end_all(void **state)
{
	if (first)
		munmap(first, capture->loaded.plan.geometry.bytes);
	first = NULL;
	close(first_fd);
	return end(state);
}

/* The i-th frame of the n-th stack: differs from all others. */
static u64 frame_at(u32 n, u32 i, bool is_user)
{
	if (is_user)
		return FRAME_USER(FILE_NUMBER, (u64)n << 16 | i);
	return 0xffffffff81000000 + ((u64)n << 12 | i);
}

static void make_stack(struct stack *stack, u32 n)
{
	bool is_user = n % 2;
	u32 depth = depths[n % DEPTHS];

	stack->depth = depth;
	stack->flags = is_user ? STACK_USER : 0;
	if (depth == STACK_USER_DEPTH_MAX)
		stack->flags |= STACK_TRUNCATED;
	for (u32 i = 0; i < depth; i++)
		stack->word[i] = frame_at(n, i, is_user);
	assert_true(stack_pack(stack));
}

/* Fills the map until it is full, with every seventh stack twice. Returns the number of stacks. */
static u32 fill_stack_map(void *table, u32 most)
{
	static struct stack stack;
	u32 n;

	for (n = 0; n < most; n++) {
		make_stack(&stack, n);
		if (stack_map_get_id(table, &capture->loaded.plan.geometry, 0, &stack) < 0)
			break;
		if (n % 7 == 0)
			stack_map_get_id(table, &capture->loaded.plan.geometry, 0, &stack);
	}
	return n;
}

static void assert_element(void *table, u32 id, const struct table_view **out)
{
	struct table_view *element;

	assert_int_equal(stack_map_find(table, &capture->loaded.plan.geometry, id, &element), 0);
	*out = element;
}

struct bin_check {
	void *table;
	u32 count;
};

static int check_binary(void *arg, const struct stack_map_bin_stack *stack)
{
	struct bin_check *check = arg;
	const struct table_view *element;
	u32 flags;

	assert_element(check->table, stack->id, &element);
	flags = IDENTITY_FLAGS(element->identity);
	assert_int_equal(stack->depth, IDENTITY_DEPTH(element->identity));
	assert_int_equal(stack->ref_count, element->ref_count);
	assert_int_equal(stack->truncated, flags & STACK_TRUNCATED);
	for (u32 i = 0; i < stack->depth; i++)
		assert_int_equal(stack->frames[i], stack_frame(element->word, flags, i));
	check->count++;
	return 0;
}

static u32 read_binary(FILE *file, void *table)
{
	struct bin_check check = {.table = table};
	struct stackmap_error error;
	int result = stack_map_bin_read(file, check_binary, &check, &error);

	if (result)
		printf("%s\n", error.message);
	assert_int_equal(result, 0);
	fclose(file);
	return check.count;
}

static void check_user_line(const char *line, u64 frame, u32 i)
{
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "  [%u] " FILE_SHOWN "+0x%llx\n", i,
		 (unsigned long long)FRAME_OFFSET(frame));
	assert_string_equal(line, wanted);
}

/* The kernel prints the symbol of a frame, or its address. */
static void check_kernel_line(const char *line, u64 frame, u32 i)
{
	unsigned long long offset, size, address;
	char name[256];
	u32 number;

	if (sscanf(line, "  [%u] 0x%llx", &number, &address) == 2)
		assert_int_equal(address, frame);
	else if (sscanf(line, "  [%u] %255[^+]+0x%llx/0x%llx", &number, name, &offset, &size) == 4)
		assert_in_range(offset, 0, size);
	else
		fail_msg("no frame: %s", line);
	assert_int_equal(number, i);
}

static void check_frames(FILE *file, const struct table_view *element)
{
	u32 flags = IDENTITY_FLAGS(element->identity);
	char *line = NULL;
	size_t room = 0;

	for (u32 i = 0; i < IDENTITY_DEPTH(element->identity); i++) {
		u64 frame = stack_frame(element->word, flags, i);

		assert_true(getline(&line, &room, file) > 0);
		if (FRAME_IS_KERNEL(frame))
			check_kernel_line(line, frame, i);
		else
			check_user_line(line, frame, i);
	}
	if (flags & STACK_TRUNCATED) {
		assert_true(getline(&line, &room, file) > 0);
		assert_string_equal(line, "  ...\n");
	}
	assert_true(getline(&line, &room, file) > 0);
	assert_string_equal(line, "\n");
	free(line);
}

/* Reads one stack of the file `stack_map`; false at its end. */
static bool read_stack(FILE *file, void *table)
{
	const struct table_view *element;
	unsigned long long refs;
	u32 id, depth;
	int fields = fscanf(file, "stack_id %u [ref %llu, depth %u]", &id, &refs, &depth);

	if (fields == EOF)
		return false;
	assert_int_equal(fields, 3);
	assert_int_equal(fgetc(file), '\n');
	assert_element(table, id, &element);
	assert_int_equal(depth, IDENTITY_DEPTH(element->identity));
	assert_int_equal(refs, element->ref_count);
	check_frames(file, element);
	return true;
}

static u32 read_text(FILE *file, void *table)
{
	u32 count = 0;

	while (read_stack(file, table))
		count++;
	assert_false(ferror(file));
	fclose(file);
	return count;
}

/* Returns the number of lines with this name. */
static u32 stat_find(const char *name, u64 *out)
{
	FILE *file = open_file("stack_map_stat");
	unsigned long long value = 0;
	char line[256], wanted[64];
	u32 found = 0;

	snprintf(wanted, sizeof(wanted), "%s: %%llu", name);
	while (fgets(line, sizeof(line), file))
		found += sscanf(line, wanted, &value) == 1;
	fclose(file);
	*out = value;
	return found;
}

static u64 stat_value(const char *name)
{
	u64 value;

	assert_int_equal(stat_find(name, &value), 1);
	return value;
}

static void assert_stat_is(void *table)
{
	struct table_stat stat;
	u64 drops = 0;

	stack_table_stat(table, &capture->loaded.plan.geometry, &stat);
	for (u32 cause = 0; cause < TABLE_DROP_COUNT; cause++)
		drops += stat.drops[cause];
	assert_int_equal(stat_value("entries"), stat.entries);
	assert_int_equal(stat_value("pool"), 8 * stat.pool_used);
	assert_int_equal(stat_value("table_size"), TABLE_SLOTS(BITS));
	assert_int_equal(stat_value("successes"), stat.refs);
	assert_int_equal(stat_value("hits"), stat.refs - stat.inserts);
	assert_int_equal(stat_value("drops"), drops);
	assert_int_equal(stat_value("success_rate"),
			 stat.refs + drops ? 100 * stat.refs / (stat.refs + drops) : 0);
	assert_int_equal(stat_value("hit_rate"),
			 stat.refs + drops ? 100 * (stat.refs - stat.inserts) / (stat.refs + drops)
					   : 0);
	assert_int_equal(stat_value("generation"), stat.generation);
}

static void assert_files_show(u32 count)
{
	assert_int_equal(read_text(open_file("stack_map"), first), count);
	assert_int_equal(read_binary(open_file("stack_map_bin"), first), count);
	assert_stat_is(first);
}

static int keep_frames(void *to, const struct stack_map_bin_stack *stack)
{
	assert_int_equal(stack->depth, 4);
	memcpy(to, stack->frames, stack->depth * sizeof(u64));
	return 0;
}

TEST(an_empty_map_has_files, begin_alone, end_all)
{
	assert_files_show(0);
}

TEST(every_stack_is_shown, begin_alone, end_all)
{
	fill_stack_map(first, 50);
	assert_files_show(50);
}

/* Kernel frames behind the entry of an exception are pc + 1 (abi/stack.h) in both files, as in user
 * space's reads of the map. */
TEST(interrupted_code_is_shown_one_byte_after_its_pc, begin_alone, end_all)
{
	static const u64 frames[] = {0xffffffff81100010, 0xffffffff81000c80, 0xffffffff81200000,
				     0xffffffff81100020};
	struct kernel_text *text = capture->loaded.kernel_text.memory;
	const struct kernel_text before = *text;
	static struct stack stack;
	u64 shown[4] = {};
	FILE *file;

	*text = (struct kernel_text){.count = 1, .range = {{0xffffffff81000c60, 0x30, TEXT_ENTRY}}};
	stack = (struct stack){.depth = 4};
	memcpy(stack.word, frames, sizeof(frames));
	assert_true(stack_pack(&stack));
	assert_true(stack_map_get_id(first, &capture->loaded.plan.geometry, 0, &stack) > 0);
	file = open_file("stack_map_bin");
	assert_int_equal(stack_map_bin_read(file, keep_frames, shown, NULL), 0);
	fclose(file);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(shown[i], frames[i] + (i == 2));
	memset(shown, 0, sizeof(shown));
	assert_int_equal(instance_each_stack(&capture->loaded, keep_frames, shown), 0);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(shown[i], frames[i] + (i == 2));
	*text = before;
}

/* Stacks of all sizes fill the map: a read whose buffer ends early never skips an element. */
TEST(a_full_map_is_shown_to_its_end, begin_alone, end_all)
{
	u32 count = fill_stack_map(first, UINT32_MAX);

	assert_true(count > 100);
	assert_files_show(count);
}

TEST(a_reader_of_single_bytes_reads_the_same, begin_alone, end_all)
{
	u32 count = fill_stack_map(first, 20);
	FILE *file = open_file("stack_map");

	setvbuf(file, NULL, _IONBF, 0);
	assert_int_equal(read_text(file, first), count);
}

TEST(the_ledger_is_that_of_the_scratch_slots, begin_alone, end_all)
{
	struct scratch *scratch = capture->loaded.scratch_slots.memory;
	u64 value, lost = 0;
	u32 lines = 0;

	scratch[1].counters.produced += 100;
	scratch[1].counters.lost[LOST_RING_FULL] += 7;
	scratch[2].counters.lost[LOST_PAUSED] += 5;
	scratch[0].refused += 3;
	loaded_ring(&capture->loaded, 0).header->reset = 2;
	assert_int_equal(stat_value("reset"), 2);
	assert_int_equal(stat_value("produced"), 108);
	assert_int_equal(stat_value("ring_full"), 7);
	assert_int_equal(stat_value("paused"), 5);
	assert_int_equal(stat_value("nested"), 3);
#define X(id, name, meaning) lines += stat_find(name, &value), lost += value;
	LEDGER_LOST(X)
#undef X
	/* all but recursion, write_error and the three of stores */
	assert_int_equal(lines, LOST_COUNT - 5);
	assert_int_equal(stat_value("recorded"), 108 - lost);
}

TEST(deferrals_are_counted_by_cause, begin_alone, end_all)
{
	struct scratch *scratch = capture->loaded.scratch_slots.memory;
	u64 value;

	scratch[0].counters.walked += 40;
	scratch[3].counters.walked += 2;
	scratch[1].counters.table_steps += 9;
	scratch[2].search.walks += 8;
	scratch[1].counters.deferred[STOP_NO_RULE] += 3;
	scratch[2].counters.deferred[STOP_NO_RULE] += 4;
	scratch[2].counters.deferred[STOP_STACK_UNREADABLE] += 5;
	scratch[1].counters.script_joined += 20;
	scratch[2].counters.script_joined += 1;
	scratch[2].counters.script_unjoined += 6;
	scratch[1].counters.script_unknown += 4;
	scratch[1].counters.script_missed += 2;
	for (u32 i = 0; i < 30; i++) { /* the memory of earlier readings is reused */
		assert_int_equal(stat_value("user_walked"), 42);
		assert_int_equal(stat_value("user_table_frames"), 9);
		assert_int_equal(stat_value("user_mapping_walks"), 8);
		assert_int_equal(stat_value("script_loops"), 21);
		assert_int_equal(stat_value("unjoined_scripts"), 6);
		assert_int_equal(stat_value("unnamed_scripts"), 4);
		assert_int_equal(stat_value("deep_scripts"), 2);
		assert_int_equal(stat_value("user_deferred_no_rule"), 7);
		assert_int_equal(stat_value("user_deferred_stack_unreadable"), 5);
		assert_int_equal(stat_value("user_deferred_not_code"), 0);
	}
	assert_int_equal(stat_find("user_deferred_root", &value), 0);
}

/* A counter that no program has is left out, not shown as 0. */
TEST(a_counter_without_a_program_has_no_line, begin_alone, end_all)
{
	u64 value;

	assert_int_equal(stat_find("recursion", &value), 0);
	assert_int_equal(stat_find("write_error", &value), 0);
}

/* Makes a generation as a reset does. */
static int make_generation(u64 generation, void **memory)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	u64 bytes = capture->loaded.plan.geometry.bytes;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "next", sizeof(u32), bytes, 1, &options);

	assert_true(fd >= 0);
	*memory = map_table(fd);
	stack_table_init(*memory, &capture->loaded.plan.geometry, generation, 1);
	return fd;
}

static void set_role(u32 role, int fd)
{
	int tables = bpf_map__fd(loaded_programs(&capture->loaded)->maps.tables);

	assert_int_equal(bpf_map_update_elem(tables, &role, &fd, BPF_ANY), 0);
}

/* One read fills the kernel's buffer; further reads give the rest. */
TEST(a_read_stays_in_its_generation, begin_alone, end_all)
{
	u32 count = fill_stack_map(first, UINT32_MAX);
	FILE *text = open_file("stack_map"), *binary = open_file("stack_map_bin");
	void *next;
	int fd = make_generation(2, &next);

	assert_true(fgetc(text) != EOF && ungetc('s', text) != EOF);
	ungetc(fgetc(binary), binary);
	set_role(TABLE_PREVIOUS, first_fd);
	set_role(TABLE_CURRENT, fd);
	fill_stack_map(next, 5);
	assert_int_equal(read_text(text, first), count);
	assert_int_equal(read_binary(binary, first), count);
	assert_int_equal(read_text(open_file("stack_map"), next), 5);
	assert_stat_is(next);
	munmap(next, capture->loaded.plan.geometry.bytes);
	close(fd);
}

TEST(a_read_across_two_resets_fails, begin_alone, end_all)
{
	FILE *file = open_file("stack_map_bin");
	char bytes[4096];
	void *next;
	int fd = make_generation(3, &next);

	fill_stack_map(first, UINT32_MAX);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	set_role(TABLE_CURRENT, fd);
	while (fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes))
		;
	assert_true(ferror(file));
	assert_int_equal(errno, E2BIG);
	fclose(file);
	munmap(next, capture->loaded.plan.geometry.bytes);
	close(fd);
}

static mode_t mode_of(const char *name)
{
	struct stat status;
	char path[256];

	snprintf(path, sizeof(path), FOLDER "/%s", name);
	assert_int_equal(stat(path, &status), 0);
	return status.st_mode & 07777;
}

TEST(the_files_are_read_only, begin_alone, end_all)
{
	int fd = open(FOLDER "/stack_map", O_WRONLY | O_CLOEXEC);

	assert_int_equal(mode_of("stack_map"), 0400);
	assert_int_equal(mode_of("stack_map_stat"), 0400);
	assert_int_equal(mode_of("stack_map_bin"), 0400);
	assert_int_equal(mode_of("trace"), 0400);
	if (fd >= 0)
		assert_int_equal(write(fd, "x", 1), -1);
	close(fd);
}

TEST(a_group_may_read_them, NULL, end_all)
{
	struct stat status;

	begin_with((struct files_options){.group = 4321});
	assert_int_equal(mode_of("stack_map"), 0440);
	assert_int_equal(stat(FOLDER "/stack_map_bin", &status), 0);
	assert_int_equal(status.st_gid, 4321);
}

static int check_hidden(void *arg, const struct stack_map_bin_stack *stack)
{
	u32 *kernel_frames = arg;

	for (u32 i = 0; i < stack->depth; i++) {
		*kernel_frames += !stack->frames[i];
		assert_false(FRAME_IS_KERNEL(stack->frames[i]));
	}
	return 0;
}

TEST(hidden_addresses_are_not_shown, NULL, end_all)
{
	struct stackmap_error error;
	u32 kernel_frames = 0;
	char line[512];
	FILE *file;

	begin_with((struct files_options){.group = FILES_NO_GROUP, .hides_addresses = true});
	fill_stack_map(first, UINT32_MAX);
	file = open_file("stack_map_bin");
	assert_int_equal(stack_map_bin_read(file, check_hidden, &kernel_frames, &error), 0);
	assert_true(kernel_frames > 0);
	fclose(file);
	file = open_file("stack_map");
	while (fgets(line, sizeof(line), file))
		assert_null(strstr(line, "] 0x"));
	fclose(file);
}

int main(void)
{
	return unit_tests_run();
}
