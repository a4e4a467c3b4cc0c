/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Caches do not change stacks: at very many points of a program its stack is unwound by the plain
 * unwinder, by one that caches rules, and three times by the direct walk: by the cached rules, by
 * the cached steps, and only by the tables of whole files. All frames must be equal. test_live
 * shows that the frames of the plain unwinder are right.
 *
 *   test_remembered EVERY LIMIT PROGRAM...
 *
 * Single steps from one int3 of the program to the next; or, with an EVERY that is not 0, at each
 * EVERY-th system call and STEPS instructions from there. At most LIMIT stacks. The direct walk
 * must complete nearly all stacks, and by tables a third of the stacks that begin and end in files
 * with a table: no table may cover PLT and _init. Exit: 0, 1, 77 ptrace is not possible here.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "symbol/unwind/file_table_pack.h"
#include "traced.h"
#include "unwind/direct_walk.h"

#define SKIP 77
#define STEPS 60
#define DIRECT_PERMILLE 990

static struct traced traced;
static struct unwind plain, remembering;
static struct rule_cache rules;
static struct step_cache steps;
static struct direct_walk walk;
static struct stack stack;
static struct direct direct = {.walk = &walk, .steps = &steps, .rules = &rules, .stack = &stack};
static u64 generation;
static u64 stacks, complete, direct_complete, tabled, table_complete, different;

/* Tables of files, by inode. With them, a frame has the file's number, which is its index here,
 * instead of an address. */
#define FILES_MAX 64
static struct {
	u64 inode;
	struct file_table table;
} files[FILES_MAX];
static u32 file_count;
static bool by_tables;
static struct rule_cache no_rules;

bool direct_read(u64 address, void *buffer, u32 bytes)
{
	return traced_read(&traced, address, buffer, bytes);
}

bool rule_search_read(struct rule_search *search, u64 address, void *buffer, u32 bytes)
{
	(void)search;
	return traced_read(&traced, address, buffer, bytes);
}

const struct file_table_chunk *file_table_chunk(const struct file_table_search *search, u32 index)
{
	const struct file_table *table = &files[search->number % FILES_MAX].table;

	return by_tables && index < table->count ? &table->chunks[index] : NULL;
}

void file_table_mark_used(struct file_table_search *search, const struct file_table_chunk *root)
{
	(void)search;
	(void)root;
}

static void table_read(const struct traced_mapping *mapping, struct file_table *table)
{
	struct code_rows rows = {};
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", traced.pid,
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	file = open(path, O_RDONLY);
	if (file >= 0 && !code_rows_read(file, &rows) && file_table_pack(&rows, table))
		file_table_clear(table);
	code_rows_clear(&rows);
	close(file);
}

/* The number of the file; 0 for files beyond FILES_MAX, which have no table. */
static u32 file_of(const struct traced_mapping *mapping)
{
	u32 i = 1;

	while (i < FILES_MAX && i <= file_count && files[i].inode != mapping->inode)
		i++;
	if (!mapping->inode || i == FILES_MAX)
		return 0;
	if (i > file_count) {
		file_count = i;
		files[i].inode = mapping->inode;
		table_read(mapping, &files[i].table);
	}
	return i;
}

static u64 frame_of(u64 pc)
{
	for (u32 i = 0; i < traced.mapping_count; i++) {
		const struct traced_mapping *mapping = &traced.mapping[i];

		if (pc >= mapping->start && pc < mapping->end)
			return FRAME_USER(file_of(mapping), pc - mapping->start + mapping->offset);
	}
	return pc;
}

static struct code_range code_range;

u64 direct_frame_of_pc(struct direct *context, u64 pc, bool *is_generated)
{
	struct unwind unwind = {.memory = &traced};

	(void)context;
	if (!unwind_find_mapping(&unwind, pc))
		return 0;
	code_range = (struct code_range){unwind.mapping.start, unwind.mapping.end};
	*is_generated = !unwind.mapping.image;
	return by_tables ? frame_of(pc) : pc;
}

/* The traced program's mappings show at once whether they have tables. */
bool direct_code_has_no_elf_header(struct direct *context)
{
	(void)context;
	return false;
}

struct code_range direct_mapping_range(struct direct *context)
{
	(void)context;
	return code_range;
}

static void unwind_by(struct unwind *unwind, struct rule_cache *cache)
{
	traced_rules = cache;
	unwind->memory = &traced;
	unwind->registers = traced.registers;
	unwind->is_compat = traced.is_compat;
	unwind->budget = UNWIND_BUDGET;
	unwind_stack(unwind, STACK_USER_DEPTH_MAX);
}

static bool walk_direct(void)
{
	walk.registers = traced.registers;
	walk.is_compat = traced.is_compat;
	walk.max_depth = STACK_USER_DEPTH_MAX;
	walk.slot = 0;
	walk.search.space =
		(struct address_space){.mm = traced.pid, .sequence = 2 * (u32)generation};
	direct_walk(&direct);
	return walk.stop == STOP_ROOT || walk.stop == STOP_DEPTH;
}

static bool is_walk_equal_to_plain(u32 stop, u32 depth, const u64 *frames)
{
	return stop == plain.stop && depth == plain.depth &&
	       !memcmp(frames, plain.frame, depth * sizeof(*frames));
}

static void check_walk_equals_plain(const char *what, u32 stop, u32 depth, const u64 *frames)
{
	if (is_walk_equal_to_plain(stop, depth, frames))
		return;
	if (!different++)
		printf("%s at %#llx: stop %u, %u frames; plain: stop %u, %u frames\n", what,
		       (unsigned long long)plain.frame[0], stop, depth, plain.stop, plain.depth);
}

static bool has_table(u64 frame)
{
	return files[FRAME_MAPPING(frame) % FILES_MAX].table.count;
}

/* Compares a walk that uses only tables. */
static void compare_by_tables(void)
{
	static struct step_cache no_steps;

	by_tables = true;
	direct.rules = &no_rules;
	memset(&no_steps, 0, sizeof(no_steps));
	direct.steps = &no_steps;
	for (u32 i = 0; i < plain.depth; i++)
		plain.frame[i] = frame_of(plain.frame[i]);
	tabled += has_table(plain.frame[0]) && has_table(plain.frame[plain.depth - 1]);
	if (walk_direct()) {
		check_walk_equals_plain("direct, by tables", walk.stop, stack.depth, stack.word);
		table_complete++;
	}
	by_tables = false;
	direct.rules = &rules;
	direct.steps = &steps;
}

/* The key of a cached rule is an address here, which belongs to other code when the mappings
 * change. */
static void clear_rules_of_old_mappings(void)
{
	if (generation == traced.generation)
		return;
	generation = traced.generation;
	unwind_drop_mapping_and_tables(&plain);
	unwind_drop_mapping_and_tables(&remembering);
	memset(&rules, 0, sizeof(rules));
}

static void compare(void)
{
	clear_rules_of_old_mappings();
	unwind_by(&plain, NULL);
	unwind_by(&remembering, &rules);
	check_walk_equals_plain("remembering", remembering.stop, remembering.depth,
				remembering.frame);
	stacks++;
	if (plain.stop != STOP_ROOT && plain.stop != STOP_DEPTH)
		return;
	complete++;
	for (u32 i = 0; i < 2; i++) {
		if (!walk_direct())
			return;
		check_walk_equals_plain(i ? "direct, by steps" : "direct", walk.stop, stack.depth,
					stack.word);
	}
	direct_complete++;
	compare_by_tables();
}

/* Steps one instruction, which may be a system call that changes the mappings. */
static enum traced_stop step(void)
{
	u16 code = 0;
	bool is_syscall;
	enum traced_stop stop;

	traced_read(&traced, traced.registers.value[REGISTER_RIP], &code, sizeof(code));
	is_syscall = code == 0x050f || code == 0x80cd || code == 0x340f;
	stop = traced_resume(&traced, PTRACE_SINGLESTEP);
	if (is_syscall && stop != TRACED_EXITED)
		traced_maps(&traced);
	return stop;
}

static void compare_steps(u64 limit)
{
	enum traced_stop stop;

	do
		stop = traced_resume(&traced, PTRACE_CONT);
	while (stop != TRACED_MARKER && stop != TRACED_EXITED);
	traced_maps(&traced);
	while (stop != TRACED_EXITED && stacks < limit) {
		compare();
		stop = step();
		if (stop == TRACED_MARKER)
			return;
	}
}

static void compare_calls(u32 every, u64 limit)
{
	for (u64 calls = 1; stacks < limit; calls++) {
		enum traced_stop stop = traced_resume(&traced, PTRACE_SYSCALL);

		if (stop == TRACED_EXITED)
			return;
		if (stop != TRACED_SYSCALL || calls % every)
			continue;
		traced_maps(&traced);
		for (u32 i = 0; i <= STEPS && stacks < limit; i++) {
			compare();
			if (step() == TRACED_EXITED)
				return;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	if (!traced_start(&traced, argv + 3)) {
		printf("skipped: %s cannot be traced\n", argv[3]);
		return SKIP;
	}
	if (atoi(argv[1]))
		compare_calls(atoi(argv[1]), atoll(argv[2]));
	else
		compare_steps(atoll(argv[2]));
	traced_end(&traced);
	printf("%llu stacks, %llu complete, %llu of them by the direct walk, %llu by tables of "
	       "%llu; %llu different\n",
	       (unsigned long long)stacks, (unsigned long long)complete,
	       (unsigned long long)direct_complete, (unsigned long long)table_complete,
	       (unsigned long long)tabled, (unsigned long long)different);
	return !complete || different || direct_complete * 1000 < complete * DIRECT_PERMILLE ||
	       table_complete * 3 < tabled;
}
