/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of Java's functions: each native frame of generated code whose method is known becomes a
 * frame of a script (abi/script.h) at once, in the program that unwinds.
 */
#ifndef BPF_JAVA_NAMES_H
#define BPF_JAVA_NAMES_H

#include "deep_stack.h"
#include "stack/script_stack.h"
#include "stack/unwinder.h"

#ifdef UNWIND_KNOWS_JAVA

/* Indexes in the words of the current method (Java), which are where other runtimes have the words
 * of a code object. */
#define JAVA_BLOCKS 1 /* start of the hash of a block's name */

enum java_code_word { JAVA_NAME, JAVA_FILE, JAVA_CONSTANTS, JAVA_LINE, JAVA_HOLDER };

static __always_inline void java_set_script_walk(struct script_walk *script,
						 const struct java_walk *java)
{
	script->layout = (struct script_layout){
		.runtime = SCRIPT_JAVA,
		.code_name = 8 * JAVA_NAME,
		.code_file = 8 * JAVA_FILE,
		.code_lines = 8 * JAVA_CONSTANTS,
		.first_line = 8 * JAVA_LINE,
		.code_owner = 8 * JAVA_HOLDER,
		.owner_name = java->layout.class_name,
		.text_kind = SCRIPT_TEXT_JAVA,
	};
	script->code = java->method;
	script->code_word[JAVA_NAME] = java->name;
	script->code_word[JAVA_FILE] = 0;
	script->code_word[JAVA_CONSTANTS] = java->constants;
	script->code_word[JAVA_LINE] = 0;
	script->code_word[JAVA_HOLDER] = java->holder;
	script->seed = script_hash_secret();
}

/*
 * The id of java->method; 0: none. `is_new`: java->file is set, so that the method may get a new
 * id. The name of the file is not a part of the cache key, because it follows from the class.
 */
static __always_inline int java_find_or_add_method_id(struct scratch *scratch,
						      const struct java_walk *java, u32 is_new)
{
	u32 zero = 0;
	struct script script = {.cache = bpf_map_lookup_elem(&script_ids, &zero)};
	int id;

	if (!script.cache)
		return 0;
	script.walk = &scratch->script;
	script.memory = scratch;
	java_set_script_walk(&scratch->script, java);
	id = script_find_cached_id_of_code(&scratch->script, script.cache);
	if (!id && is_new) {
		scratch->script.code_word[JAVA_FILE] = java->file;
		id = script_find_or_add_id(&script);
		scratch->counters.script_unknown += id == 0;
	}
	scratch->counters.script_joined += id != 0;
	return id;
}

/* Claims a scratch slot for java_find_or_add_method_id(). */
__noinline int java_method_id_in_scratch_slot(struct unwinder *unwinder, u32 has_name, u32 is_new)
{
	struct scratch *scratch = scratch_claim(bpf_get_smp_processor_id());
	int id = 0;

	if (!scratch) {
		if (unwinder)
			unwinder->walk.scripts.missed++;
		return 0;
	}
	if (unwinder && has_name) {
		scratch->script.space = unwinder->search.vma.space;
		id = java_find_or_add_method_id(scratch, &unwinder->walk.java, is_new);
	}
	scratch->counters.script_unjoined += !has_name;
	scratch_release(scratch);
	return id;
}

#define STUB_NAME_BYTES 64 /* the most bytes that are read of the name of a block */
#define EIGHT_SPACES 0x2020202020202020ULL
#define EIGHT_HIGH_BITS 0x8080808080808080ULL

/* The id of the name that the machine has given to a block of code, which stands for the block's
 * frames that have no method. */
static __always_inline int java_find_or_add_block_id(struct scratch *scratch, u64 name)
{
	struct script_record *record = &scratch->script_search.record;
	u32 zero = 0;
	struct script_cache *cache = bpf_map_lookup_elem(&script_ids, &zero);
	u64 hash = JAVA_BLOCKS, key, first;
	long bytes;
	int id;

	/* reading from NULL fails, and leaves zeros */
	bpf_probe_read_kernel(record, sizeof(*record), NULL);
	bytes = bpf_probe_read_user_str(record->name.text, STUB_NAME_BYTES, (void *)name);
	if (!cache || bytes <= 1 || bytes > STUB_NAME_BYTES)
		return 0;
	/* A name begins with eight characters of ASCII, which an address never does. */
	first = *(u64 *)record->name.text;
	if ((first | (first - EIGHT_SPACES)) & EIGHT_HIGH_BITS)
		return 0;
	record->runtime = SCRIPT_JAVA;
	record->name.bytes = bytes - 1;
	for (u32 i = 0; i < STUB_NAME_BYTES / 8; i++)
		hash = (hash ^ ((u64 *)record->name.text)[i]) * 0x9e3779b97f4a7c15ULL;
	scratch->script.seed = script_hash_secret();
	key = script_key_of_text_hash(&scratch->script, hash);
	id = script_find_cached_id_of_key(cache, key);
	if (!id) {
		id = script_record_id(scratch);
		if (id > 0)
			script_cache_put(cache, key, id);
	}
	return id > 0 ? id : 0;
}

/* Claims a scratch slot for java_find_or_add_block_id(). */
__noinline int java_block_id_in_scratch_slot(struct unwinder *unwinder)
{
	struct scratch *scratch = scratch_claim(bpf_get_smp_processor_id());
	int id = 0;

	if (!scratch)
		return 0;
	if (unwinder) {
		scratch->script.space = unwinder->search.vma.space;
		id = java_find_or_add_block_id(scratch, unwinder->walk.java.own_name);
	}
	scratch->counters.script_joined += id != 0;
	scratch_release(scratch);
	return id;
}

/* The id of the current frame's method. The names are read only if the cache has no id. */
static __always_inline int java_method_id_of_frame(struct unwinder *unwinder)
{
	int id = 0;
	u32 has_name;

	if (!unwinder)
		return 0;
	if (java_find_method_without_wait(&unwinder->walk))
		id = java_method_id_in_scratch_slot(unwinder, 1, 0);
	if (id)
		return id;
	has_name = java_find_names_of_method(&unwinder->walk);
	return has_name || unwinder->walk.budget
		       ? java_method_id_in_scratch_slot(unwinder, has_name, 1)
		       : 0;
}

/* Replaces the address of a method in java->chain by the method's id, the outermost first. */
static long java_name_function(u32 i, struct unwinder **context)
{
	struct unwinder *unwinder = *context;
	struct java_walk *java = &unwinder->walk.java;
	u32 at = java->inlined - i;

	core_one_register(at);
	if (at >= JAVA_CHAIN_MAX)
		return 1;
	java->method = java->chain[at & (JAVA_CHAIN_MAX - 1)];
	if (java->method != java->last_method) {
		java->last_id = (u32)java_method_id_of_frame(unwinder);
		java->last_method = java->last_id ? java->method : 0;
	}
	java->chain[at & (JAVA_CHAIN_MAX - 1)] = java->last_id;
	java->is_unnamed = !java->last_id;
	return !core_reload(java->last_id);
}

/*
 * The frame gets the name of its outermost function. If an inlined function has no name, none of
 * the frame's inlined functions is shown, since another one would seem to be its caller. A frame
 * without a function gets the name of its block.
 */
__noinline int unwinder_name_java_frame(struct unwinder *unwinder)
{
	struct java_walk *java;
	u64 id = 0;
	u32 last;

	if (!unwinder)
		return 0;
	java = &unwinder->walk.java;
	if (java->method) {
		if (!java_inlined_find(&unwinder->walk))
			java_method_id_in_scratch_slot(unwinder, 0, 0);
		bpf_loop(JAVA_CHAIN_MAX, java_name_function, &unwinder, core_no_flags);
		last = java->inlined;
		core_one_register(last);
		id = java->chain[last & (JAVA_CHAIN_MAX - 1)];
		if (core_reload(java->is_unnamed))
			java->inlined = 0;
	}
	if (!id && java->own_name && unwinder->walk.budget)
		id = (u32)java_block_id_in_scratch_slot(unwinder);
	unwinder_name_frame(unwinder, SCRIPT_JAVA + java->is_compiled, id);
	return 0;
}

CORE_INLINE void unwind_name_java_frame(struct unwind *walk)
{
	unwinder_name_java_frame(unwinder_of_walk(walk));
}

#endif

#endif
