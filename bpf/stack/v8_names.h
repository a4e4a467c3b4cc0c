/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of V8's functions: each native frame that core/unwind/v8_name.c finds a function for
 * becomes a frame of a script (abi/script.h) at once, in the program that unwinds. Functions within
 * the frame's function (core/unwind/v8_inlined.c) get frames of their own, further in; one without
 * a name gets the native frame. The texts are read for each frame, and their hash is the key of the
 * cache: the garbage collector moves objects, and frees functions and makes others at their
 * addresses.
 */
#ifndef BPF_V8_NAMES_H
#define BPF_V8_NAMES_H

#include "deep_stack.h"
#include "stack/script_stack.h"
#include "stack/unwinder.h"

#ifdef UNWIND_KNOWS_V8

#define V8_TRIES_MAX 4
#define V8_KNOWN_FACTOR 0x9e3779b97f4a7c15ULL
/* a word below r13's address has the address of code of V8's file */
#define V8_CODE_BELOW_ROOT 16

/*
 * Finds the layout of the file that contains V8, which is the file of the current frame's code.
 * Generated code belongs to no file; in generated code r13 holds the address of V8's roots, and
 * words below the roots have the addresses of V8's built-in functions, which are in the file.
 */
__noinline int unwinder_find_v8_layout(struct unwinder *unwinder)
{
	const struct unwind_registers *registers;
	const struct file_table_chunk *root;
	const struct known_vma *vma;
	struct v8_walk *v8;
	u64 key, is_generated;

	if (!unwinder)
		return 0;
	vma = &unwinder->search.vma;
	v8 = &unwinder->walk.v8;
	registers = &unwinder->walk.registers;
	is_generated = vma->kind == MAPPING_ANON;
	if (is_generated) {
		if (v8->tries >= V8_TRIES_MAX || !(registers->known >> REGISTER_R13 & 1) ||
		    bpf_probe_read_user(
			    v8->word, 8,
			    (const void *)(registers->value[REGISTER_R13] - V8_CODE_BELOW_ROOT)))
			return 0;
		v8->tries++;
		if (mapping_find(&unwinder->search, v8->word[0]))
			unwinder->search.vma.number = MAPPING_UNKNOWN;
	}
	key = FILE_TABLE_KEY(vma->number, FILE_TABLE_ROOT);
	root = bpf_map_lookup_elem(&file_tables, &key);
	if (root) {
		v8->layout = root->script.v8;
		v8->is_found = root->script.runtime == SCRIPT_V8 && v8->layout.has_names;
		v8->seed = script_hash_secret();
		/*
		 * Data that an earlier walk has cached may be of another process. Reading from NULL
		 * fails, and leaves zeros.
		 */
		bpf_probe_read_kernel(v8->map, sizeof(v8->map), NULL);
		bpf_probe_read_kernel(v8->known, sizeof(v8->known), NULL);
		bpf_probe_read_kernel(v8->named, sizeof(v8->named), NULL);
	}
	if (is_generated)
		mapping_find(&unwinder->search, registers->value[REGISTER_PC]);
	return 0;
}

static __always_inline void v8_text_copy(struct script_text *out, const struct v8_text *text)
{
	u64 bytes = text->bytes;

	core_one_register(bytes);
	if (bytes > SCRIPT_TEXT_BYTES)
		return;
	out->bytes = bytes;
	out->width = text->width;
	bpf_probe_read_kernel(out->text, bytes, text->text);
}

/* The id of a function that is new to the cache; 0: none. */
__noinline int v8_add_function_id(struct scratch *scratch, const struct v8_walk *v8)
{
	struct script_record *record;

	if (!scratch || !v8)
		return 0;
	record = &scratch->script_search.record;
	/* reading from NULL fails, and leaves zeros */
	bpf_probe_read_kernel(record, sizeof(*record), NULL);
	record->runtime = SCRIPT_V8;
	v8_text_copy(&record->name, &v8->text[0]);
	v8_text_copy(&record->file, &v8->text[1]);
	return script_record_id(scratch);
}

/* The id of the function whose name and file were read; 0: no id. */
static __always_inline int v8_find_or_add_function_id(struct scratch *scratch,
						      const struct v8_walk *v8)
{
	u32 zero = 0;
	struct script_cache *cache = bpf_map_lookup_elem(&script_ids, &zero);
	u64 key;
	int id;

	if (!cache)
		return 0;
	scratch->script.seed = script_hash_secret();
	key = script_key_of_text_hash(&scratch->script, v8->hash);
	id = script_find_cached_id_of_key(cache, key);
	if (!id) {
		id = v8_add_function_id(scratch, v8);
		if (id > 0)
			script_cache_put(cache, key, id);
		scratch->counters.script_unknown += id <= 0;
	}
	scratch->counters.script_joined += id > 0;
	return id > 0 ? id : 0;
}

/* Claims a scratch slot for v8_find_or_add_function_id(). Functions without a name are counted. */
__noinline int v8_function_id_in_scratch_slot(struct unwinder *unwinder, u32 has_name)
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
		id = v8_find_or_add_function_id(scratch, &unwinder->walk.v8);
	}
	scratch->counters.script_unjoined += !has_name;
	scratch_release(scratch);
	return id;
}

/* Gives the current frame the name of the function with this shared object; 0: no function. */
static __always_inline void v8_name_frame(struct unwinder *unwinder, u32 runtime, u64 shared)
{
	struct v8_walk *v8 = &unwinder->walk.v8;
	u32 slot = shared * V8_KNOWN_FACTOR >> 32;

	core_one_register(slot);
	slot &= V8_KNOWN - 1;
	if (!shared || shared != v8->named[slot]) {
		v8->shared = shared;
		v8->id[slot] = (u32)v8_function_id_in_scratch_slot(
			unwinder, shared && v8_read_names_of_function(&unwinder->walk));
		v8->named[slot] = core_reload(v8->id[slot]) ? shared : 0;
	}
	v8->has_names |= core_reload(v8->id[slot]) != 0;
	unwinder_name_frame(unwinder, runtime, core_reload(v8->id[slot]));
}

/*
 * Finds the functions that run in the current frame. False: the frame is not that of a function of
 * V8.
 */
static __always_inline bool v8_find_functions(struct unwinder *unwinder)
{
	struct unwind *walk = &unwinder->walk;
	u32 index = deep_stack_slot(walk->depth - 1);
	struct v8_walk *v8 = &walk->v8;
	int found;

	if (!v8->is_found)
		unwinder_find_v8_layout(unwinder);
	if (!core_reload(v8->is_found))
		return false;
	found = v8_find_function_of_frame(walk, unwinder->search.vma.kind == MAPPING_ANON);
	if (!found)
		return false;
	core_one_register(index);
	v8->inlined.native = walk->frame[index & (UNWIND_FRAMES - 1)];
	v8->inlined.shared[0] = found > 0 ? v8->shared : 0;
	if (found > 0 && v8->is_compiled && !walk->is_interrupted && v8_inlined_find(walk) < 0) {
		v8->inlined.shared[0] = v8->shared;
		v8_function_id_in_scratch_slot(unwinder, 0);
	}
	return true;
}

/*
 * Names the current frame. If functions are inlined in the function of the frame, the frame gets
 * the name of the innermost inlined one, and each further call adds a frame for the next function.
 */
__noinline int unwinder_name_v8_frame(struct unwinder *unwinder)
{
	struct v8_inlined *inlined;
	struct unwind *walk;
	u32 left, index;

	if (!unwinder)
		return 0;
	walk = &unwinder->walk;
	inlined = &walk->v8.inlined;
	if (inlined->left) {
		inlined->left--;
		index = deep_stack_slot(walk->depth);
		core_one_register(index);
		walk->frame[index & (UNWIND_FRAMES - 1)] = inlined->native;
		walk->depth++;
	} else if (!v8_find_functions(unwinder)) {
		return 0;
	}
	left = core_reload(inlined->left);
	core_one_register(left);
	v8_name_frame(unwinder, left ? SCRIPT_V8_INLINED : SCRIPT_V8 + (walk->v8.is_compiled & 1),
		      inlined->shared[left & (V8_INLINED_MAX - 1)]);
	return 0;
}

CORE_INLINE void unwind_name_v8_frame(struct unwind *walk)
{
	unwinder_name_v8_frame(unwinder_of_walk(walk));
}

#endif

#endif
