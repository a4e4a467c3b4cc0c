/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwinder (core/unwind/unwind.h) in programs that may sleep: it reads the current task's
 * memory, waits for missing pages (file_memory.h), finds the task's mappings, and caches each rule
 * for all programs.
 *
 * Its memory is a pool that instances share. A program claims an unwinder by exchange. Per-CPU
 * memory is no alternative, because a page fault sleeps. The last stack stays in an unwinder for
 * other instances that wait for the same cookie, until the unwinder is claimed again; therefore
 * free unwinders are claimed in turn.
 */
#ifndef BPF_UNWINDER_H
#define BPF_UNWINDER_H

#include "deep_stack.h"
#include "deferral.h"
#include "mapping/build_id.h"
#include "mapping/file_memory.h"
#include "mapping/user_frame.h"
#include "mapping/user_mapping.h"
#include "mapping/vma_image.h"
#include "rule_cache.h"
#include "stack.h"
#include "stack/table_chunks.h"
#include "state/engine_maps.h"
#include "state/instance.h"
#include "state/user_registers.h"
#include "unwind/rule_search.h"
#include "unwind/unwind.h"

/*
 * BPF programs that may sleep hold this lock (RCU) while they use the stack map: user space swaps
 * the tables of the map only after all programs that use the old table have ended. The kfuncs do
 * not exist before Linux 6.2.
 */
extern void bpf_rcu_read_lock(void) __ksym __weak;
extern void bpf_rcu_read_unlock(void) __ksym __weak;

static __always_inline void rcu_enter(void)
{
	if (bpf_rcu_read_lock)
		bpf_rcu_read_lock();
}

static __always_inline void rcu_leave(void)
{
	if (bpf_rcu_read_unlock)
		bpf_rcu_read_unlock();
}

/* A read that failed for a missing page. */
struct missing_read {
	u64 address;
	u32 bytes;   /* 0: no read has failed */
	u32 budget;  /* budget of the walk when the read failed */
	u32 refused; /* depth of the frame whose pages are not waited for; 0: none */
	u32 reserved;
};

struct unwinder {
	u32 busy;
	u32 tid;
	u32 cookie; /* cookie of the stack in walk.frame; 0: none */
	u32 reserved;
	struct vma_search search;
	u64 frame; /* the current frame, as mapping and offset */
	struct rule_search rule;
	struct file_reads reads;
	struct missing_read missing;
	struct unwind walk;
};

ARRAY_MAP(unwinders, UNWINDERS_MAX, struct unwinder);

static __always_inline bool unwinder_try_claim(u32 index)
{
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	return unwinder && !atomic_load_relaxed(&unwinder->busy) &&
	       !atomic_exchange_acq_rel(&unwinder->busy, 1);
}

struct unwinder_search {
	u32 first;
	u32 found;
};

static long unwinder_claim_step(u32 i, struct unwinder_search *search)
{
	u32 index = (search->first + i) % UNWINDERS_MAX;

	if (!unwinder_try_claim(index))
		return 0;
	search->found = index;
	return 1;
}

/* Claims a free unwinder. Returns its index, or UNWINDERS_MAX. */
static __always_inline u32 unwinder_claim(void)
{
	struct engine_state *state = current_engine_state();
	struct unwinder_search search = {.found = UNWINDERS_MAX};

	if (!state)
		return UNWINDERS_MAX;
	search.first = atomic_fetch_add_acq_rel(&state->unwinder_next, 1);
	core_rare_loop(UNWINDERS_MAX, unwinder_claim_step, &search);
	return search.found;
}

static __always_inline void unwinder_release(struct unwinder *unwinder)
{
	atomic_store_release(&unwinder->busy, 0);
}

static __always_inline struct unwinder *unwinder_of_walk(struct unwind *walk)
{
	return (void *)walk - offsetof(struct unwinder, walk);
}

/*
 * Notes a failed read and takes the budget away, so that no other read follows until the page is
 * there: see unwind_wait_for_missing_page(). A global function, like file_reads_note_if_enabled():
 * a read then has few paths for the verifier.
 */
__noinline int unwinder_note_missing_page(struct unwinder *unwinder, u64 address, u32 bytes)
{
	struct missing_read *missing;

	if (!unwinder)
		return 0;
	missing = &unwinder->missing;
	if (missing->refused == unwinder->walk.depth)
		return 0;
	missing->address = address;
	missing->bytes = bytes;
	missing->budget = unwinder->walk.budget;
	unwinder->walk.budget = 0;
	return 0;
}

CORE_INLINE bool unwind_read(struct unwind *walk, u64 address, void *buffer, u32 bytes)
{
	struct unwinder *unwinder = unwinder_of_walk(walk);

	file_reads_note_if_enabled(&unwinder->reads, address, bytes);
	if (!bpf_probe_read_user(buffer, bytes, (const void *)address))
		return true;
	unwinder_note_missing_page(unwinder, address, bytes);
	return false;
}

CORE_INLINE bool unwind_peek(struct unwind *walk, u64 address, void *buffer, u32 bytes)
{
	(void)walk;
	return !bpf_probe_read_user(buffer, bytes, (const void *)address);
}

/* Waits for the pages of the first and the last byte of a read. False: a page may not be waited
 * for, or cannot be read. */
static __always_inline bool wait_for_pages_of_read(struct vma_search *search, u64 address,
						   u32 bytes)
{
	u64 last = address + bytes - 1;
	u8 byte;

	return may_wait_for_pages_of_read(search, address, last) &&
	       !bpf_copy_from_user(&byte, sizeof(byte), (const void *)address) &&
	       !bpf_copy_from_user(&byte, sizeof(byte), (const void *)last);
}

/* Waits for the missing page. If the page may not be waited for, the frame is walked without it. */
CORE_INLINE bool unwind_wait_for_missing_page(struct unwind *walk)
{
	struct unwinder *unwinder = unwinder_of_walk(walk);
	struct missing_read *missing = &unwinder->missing;
	u32 bytes = missing->bytes;

	if (!bytes)
		return false;
	missing->bytes = 0;
	unwinder->reads.is_noted = 0;
	walk->budget = missing->budget;
	if (!wait_for_pages_of_read(&unwinder->search, missing->address, bytes))
		missing->refused = walk->depth;
	return true;
}

/*
 * The value of mapping.image while the file's ELF header was not searched yet: the search costs
 * time, and matters only if a table has to be read.
 */
#define IMAGE_LATER 1

CORE_INLINE bool unwind_find_mapping(struct unwind *walk, u64 pc)
{
	struct vma_search *search = &unwinder_of_walk(walk)->search;
	int error = mapping_find(search, pc);

	if (error == -ENOENT) {
		pc = original_return_address_of_word(walk->registers.value[REGISTER_SP] - 8);
		if (!pc)
			return false;
		walk->registers.value[REGISTER_PC] = pc;
		error = mapping_find(search, pc);
	}
	if (error && error != -ENOSPC)
		return false;
	walk->mapping.start = search->entry.start;
	walk->mapping.end = search->entry.end;
	walk->mapping.image = search->vma.kind == MAPPING_ANON ? 0 : IMAGE_LATER;
	walk->mapping.is_vdso = is_below(search->vma.kind ^ MAPPING_VDSO, 1);
	return true;
}

#ifdef UNWIND_KNOWS_JAVA

#define JAVA_TRIES_MAX 4

/*
 * Finds libjvm's layout: r15 holds the address of the thread's object, the object begins with the
 * address of its table of functions, and the table's first function belongs to libjvm. A file whose
 * table was removed has no layout.
 */
__noinline int unwinder_find_java_layout(struct unwinder *unwinder)
{
	const struct unwind_registers *registers;
	const struct file_table_chunk *root;
	const struct known_vma *vma;
	struct java_walk *java;
	u64 key;

	if (!unwinder)
		return 0;
	vma = &unwinder->search.vma;
	java = &unwinder->walk.java;
	registers = &unwinder->walk.registers;
	if (java->tries >= JAVA_TRIES_MAX || !(registers->known >> REGISTER_R15 & 1) ||
	    bpf_probe_read_user(&java->word, 8, (const void *)registers->value[REGISTER_R15]) ||
	    bpf_probe_read_user(&java->word, 8, (const void *)java->word))
		return 0;
	java->tries++;
	if (!mapping_find(&unwinder->search, java->word)) {
		key = FILE_TABLE_KEY(vma->number, FILE_TABLE_ROOT);
		root = bpf_map_lookup_elem(&file_tables, &key);
		if (root) {
			java->layout = root->script.java;
			java->base = vma->start - vma->file_offset - java->layout.code_bias;
			java->is_found = root->script.runtime == SCRIPT_JAVA;
		}
	}
	mapping_find(&unwinder->search, registers->value[REGISTER_PC]);
	return 0;
}

CORE_INLINE void unwind_find_java_layout(struct unwind *walk)
{
	unwinder_find_java_layout(unwinder_of_walk(walk));
}

__noinline int unwinder_java_rule(struct unwinder *unwinder)
{
	return unwinder && java_rule(&unwinder->walk);
}

CORE_INLINE bool unwind_java_rule(struct unwind *walk)
{
	return unwinder_java_rule(unwinder_of_walk(walk));
}

#endif

/* The frame of a pc. A leaf outside of all code has no mapping. */
CORE_INLINE u64 unwind_frame(struct unwind *walk, u64 pc)
{
	struct unwinder *unwinder = unwinder_of_walk(walk);
	const struct known_vma *vma = &unwinder->search.vma;

	unwinder->frame = FRAME_USER(MAPPING_UNKNOWN, pc);
	if (vma->end)
		unwinder->frame = FRAME_USER(vma->number, pc - vma->start + vma->file_offset);
	return unwinder->frame;
}

/* Takes the place of the file's table from the cache, where an earlier walk has put it. */
static __always_inline bool cached_table_place_find(struct unwinder *unwinder,
						    const struct rule_cache *cache)
{
	struct rule_key key = unwind_rule_key(&unwinder->walk, unwinder->frame);
	struct rule_key own = rule_key_of_address_space(&key, &unwinder->search.vma.space);

	return rule_cache_get_exact(cache, &key, &unwinder->rule.rule) ||
	       rule_cache_get_exact(cache, &own, &unwinder->rule.rule);
}

static __always_inline bool cached_rule_find(struct unwinder *unwinder, struct rule_cache *cache)
{
	struct unwind *walk = &unwinder->walk;
	struct rule_search *search = &unwinder->rule;
	bool is_found;

	search->space = unwinder->search.vma.space;
	search->place = unwinder->frame | (walk->is_interrupted ? RULE_KEY_INTERRUPTED : 0);
	search->pc = walk->registers.value[REGISTER_PC];
	is_found = rule_search_find(search, cache);
	walk->is_listed = search->is_listed;
	return is_found;
}

/* Looks for the first segment of the current pc's file, which leads to the tables. */
static __always_inline void find_elf_image_of_pc(struct unwinder *unwinder)
{
	vma_find_image(&unwinder->search);
	unwinder->walk.mapping.image = unwinder->search.vma.image;
}

/*
 * Sets walk->rule to the cached rule of the current frame, or to the cached place of the file's
 * table, and returns 1. 0: the cache has none. A global function: the verifier does not follow its
 * changes to the walk.
 */
__noinline int unwinder_find_cached_rule(struct unwinder *unwinder)
{
	struct rule_cache *cache = current_rule_cache();

	if (!unwinder || !cache)
		return 0;
	unwinder->reads.is_noted = 0;
	if (unwinder->walk.is_search ? cached_table_place_find(unwinder, cache)
				     : cached_rule_find(unwinder, cache)) {
		unwinder->walk.rule = unwinder->rule.rule;
		return 1;
	}
	if (unwinder->walk.mapping.image == IMAGE_LATER)
		find_elf_image_of_pc(unwinder);
	unwinder->reads.is_noted = unwinder->walk.mapping.image != 0;
	return 0;
}

/*
 * True if the current rule follows from the file itself, or from this process's copy of the tables;
 * a rule from a changed copy of the code does not count. Separate from unwinder_cache_rule(), to
 * save BPF stack.
 */
__noinline int is_rule_from_unchanged_file(struct unwinder *unwinder)
{
	struct vma_search *search;
	struct file_reads *reads;
	u64 pc;

	if (!unwinder)
		return 0;
	search = &unwinder->search;
	reads = &unwinder->reads;
	pc = unwinder->walk.registers.value[REGISTER_PC];
	file_reads_note(reads, pc, 1);
	reads->is_noted = unwinder->walk.is_search;
	return search->vma.number != MAPPING_UNKNOWN &&
	       were_all_noted_reads_of_file(reads, search, &unwinder->walk.image) &&
	       !(reads->is_written && unwinder->walk.code_seen);
}

#ifdef UNWIND_KNOWS_V8
/*
 * Sets the operand of a rule that was made from the code to RULE_OPERAND_V8 if the code is V8's
 * own.
 */
__noinline int unwinder_mark_rule_of_v8_code(struct unwinder *unwinder)
{
	const struct file_table_chunk *root;
	u64 key;

	if (!unwinder || !unwinder->walk.code_seen)
		return 0;
	key = FILE_TABLE_KEY(unwinder->search.vma.number, FILE_TABLE_ROOT);
	root = bpf_map_lookup_elem(&file_tables, &key);
	if (root && root->script.runtime == SCRIPT_V8 && root->script.v8.has_names &&
	    unwinder->walk.rule.cfa_kind == CFA_REGISTER &&
	    !(unwinder->walk.rule.flags & RULE_STACK_MOVED))
		unwinder->walk.rule.operand = RULE_OPERAND_V8;
	return 0;
}
#endif

__noinline int unwinder_cache_rule(struct unwinder *unwinder)
{
	struct rule_cache *cache = current_rule_cache();
	struct rule_key key;
	bool is_own;

	if (!unwinder || !cache)
		return 0;
	is_own = unwinder->reads.is_written;
	if (is_own)
		unwinder->walk.granule = 1;
	key = unwind_rule_key(&unwinder->walk, unwinder->frame);
	if (is_own)
		key = rule_key_of_address_space(&key, &unwinder->search.vma.space);
	rule_cache_put(cache, &key, &unwinder->walk.rule);
	return 0;
}

CORE_INLINE bool unwind_find_cached_rule(struct unwind *walk)
{
	return unwinder_find_cached_rule(unwinder_of_walk(walk));
}

CORE_INLINE void unwind_cache_rule(struct unwind *walk)
{
	struct unwinder *unwinder = unwinder_of_walk(walk);

#ifdef UNWIND_KNOWS_V8
	unwinder_mark_rule_of_v8_code(unwinder);
#endif
	if (is_rule_from_unchanged_file(unwinder))
		unwinder_cache_rule(unwinder);
}

/* Unwinds the current task from walk->registers. */
static __always_inline void unwind_from_given_registers(struct unwinder *unwinder)
{
	struct unwind *walk = &unwinder->walk;

	walk->depth = 0;
	walk->budget = UNWIND_BUDGET;
	walk->guess_mark = FRAME_GUESSED;
	unwinder->rule.table.now = 0;
	unwind_drop_mapping_and_tables(walk);
	file_reads_reset(&unwinder->reads);
	unwinder->missing = (struct missing_read){};
	unwinder->search.wants_entry = 1;
	if (!set_search_to_current_address_space(&unwinder->search))
		return;
	unwind_stack(walk, config.max_user_depth);
	read_noted_build_ids(&unwinder->search);
}

/* Unwinds the current task from the registers with which it left user mode. */
static __always_inline void unwind_current_user_stack(struct unwinder *unwinder)
{
	unwinder->walk.is_compat = registers_of_current(&unwinder->walk.registers);
	unwind_from_given_registers(unwinder);
}

/*
 * unwind_current_user_stack() in a newly claimed unwinder without a cookie. Returns its index, or
 * UNWINDERS_MAX if no unwinder is free.
 */
static __always_inline u32 unwind_in_free_unwinder(void)
{
	u32 index = unwinder_claim();
	struct unwinder *unwinder = bpf_map_lookup_elem(&unwinders, &index);

	if (!unwinder)
		return UNWINDERS_MAX;
	unwinder->cookie = 0;
	unwind_current_user_stack(unwinder);
	return index;
}

/* Copies the frames of the unwinder's stack to *stack, without the innermost `skip` frames. */
static __always_inline void copy_frames_of_unwinder(const struct unwinder *unwinder,
						    struct stack *stack, u32 skip)
{
	u32 count = unwinder->walk.depth - skip;

	core_one_register(count);
	if (count > STACK_USER_DEPTH_MAX)
		count = 0;
	stack->depth = count;
	stack->flags = stack_flags_of_stop(unwinder->walk.stop);
	bpf_probe_read_kernel(stack->word, 8 * count, &unwinder->walk.frame[skip]);
}

/* Makes the current frame that of a function of a script; id 0: the frame stays native. */
static __always_inline void unwinder_name_frame(struct unwinder *unwinder, u32 runtime, u64 id)
{
	u32 index = deep_stack_slot(unwinder->walk.depth - 1);
	u64 *frame;

	core_one_register(index);
	frame = &unwinder->walk.frame[index & (UNWIND_FRAMES - 1)];
	if (id)
		*frame = FRAME_SCRIPT(runtime, id) | (*frame & FRAME_GUESSED);
}

#endif
