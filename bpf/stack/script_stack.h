/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of scripts in the user stack of the current task (core/script_walk.h). A function that
 * is met for the first time gets its id at once: its names are read without faults, by the event's
 * program. If memory or a page is missing, the callback gives the id (event/user_side.h).
 *
 * The program includes script_walk.c after this header.
 */
#ifndef BPF_SCRIPT_STACK_H
#define BPF_SCRIPT_STACK_H

#include "script_walk.h"
#include "state/engine_maps.h"
#include "state/scratch_slots.h"
#include "state/user_registers.h"

#define RECORD_WORDS (sizeof(struct script_record) / 8)

_Static_assert(sizeof(struct script_record) % 8 == 0, "records are compared by words");

CORE_INLINE bool script_read(u64 address, void *buffer, u32 bytes)
{
	return !bpf_probe_read_user(buffer, bytes, (const void *)address);
}

CORE_INLINE u64 script_thread_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return thread_pointer_of(&task->thread);
}

/* The layout lives as long as the table of the file. */
CORE_INLINE const struct script_layout *script_layout_of(struct script *script, u32 number)
{
	u64 key = FILE_TABLE_KEY(number, FILE_TABLE_ROOT);
	struct file_table_chunk *root = bpf_map_lookup_elem(&file_tables, &key);

	return root && root->script.link ? &root->script : NULL;
}

/*
 * Reads the string object at `address`; the address 0 stands for an empty string. False: the object
 * is unreadable, too long, or of no kind that is known. If only the characters are unreadable,
 * scratch->script_search has their address and length: a process that was forked has no page of a
 * file before it reads that page.
 */
__noinline int script_text_read(struct script_text *text, struct scratch *scratch, u64 address)
{
	struct script_walk *walk;
	u64 bytes;

	if (!text || !scratch)
		return false;
	walk = &scratch->script;
	/* reading from NULL fails, and leaves zeros */
	bpf_probe_read_kernel(text, sizeof(*text), NULL);
	if (!address)
		return true;
	if (!script_find_text_of_runtime(walk, address) || walk->text_bytes > SCRIPT_TEXT_BYTES)
		return false;
	bytes = walk->text_bytes;
	text->bytes = bytes;
	text->width = walk->text_width;
	core_one_register(bytes);
	if (!bytes || bytes > SCRIPT_TEXT_BYTES)
		return false;
	if (!bpf_probe_read_user(text->text, bytes, (void *)walk->text_from))
		return true;
	scratch->script_search.name = walk->text_from;
	scratch->script_search.name_bytes = bytes;
	return false;
}

static long script_record_hash_add(u32 i, struct scratch **context)
{
	struct script_search *search = &(*context)->script_search;

	core_one_register(i);
	if (i < RECORD_WORDS) {
		search->hash = (search->hash ^ ((u64 *)&search->record)[i]) * 0x9e3779b97f4a7c15ULL;
		search->hash ^= search->hash >> 29;
	}
	return 0;
}

static long script_record_compare(u32 i, struct scratch **context)
{
	struct script_search *search = &(*context)->script_search;

	core_one_register(i);
	if (i < RECORD_WORDS)
		search->differs |= ((u64 *)&search->record)[i] ^ ((u64 *)&search->other)[i];
	return 0;
}

/*
 * Finds the id of the record in scratch->script_search under one hash. 0: the hash is free;
 * -EEXIST: another record has the hash.
 */
static __always_inline int script_find_id_of_hash(struct scratch *scratch, u64 key)
{
	u32 *id = bpf_map_lookup_elem(&script_numbers, &key);
	const void *other;

	if (!scratch || !id)
		return 0;
	other = bpf_map_lookup_elem(&script_records, id);
	if (!other || bpf_probe_read_kernel(&scratch->script_search.other,
					    sizeof(struct script_record), other))
		return -EEXIST;
	scratch->script_search.differs = 0;
	bpf_loop(RECORD_WORDS, script_record_compare, &scratch, 0);
	return scratch->script_search.differs ? -EEXIST : (int)*id;
}

/*
 * Gives the record in scratch->script_search an id under a hash. -ENOMEM: no memory at hand. 0: no
 * id is left for the process, or another program has just taken the hash. Without a record, the id
 * is free again unless another one has been given out since. On 6.1 the value of a map must be in a
 * map or on the stack, so the scratch slot is looked up once more.
 */
__noinline int script_publish_id_of_hash(struct scratch *scratch, u64 key)
{
	struct engine_state *engine = current_engine_state();
	u32 id, slot, last, zero = 0, cpu = bpf_get_smp_processor_id();
	struct cpu_scratch *own = bpf_map_lookup_elem(&scratch_slots, &cpu);
	struct script_cache *cache = bpf_map_lookup_elem(&script_ids, &zero);
	long error;

	if (!scratch || !own || !engine || !cache)
		return 0;
	last = atomic_load_relaxed(&engine->script_last);
	if (last >= SCRIPTS_MAX - 1 ||
	    !script_is_within_quota(cache, &scratch->script, SCRIPTS_MAX - 1 - last))
		return 0;
	slot = scratch->index;
	core_one_register(slot);
	if (slot >= SCRATCH_SLOTS)
		return 0;
	id = atomic_fetch_add_acq_rel(&engine->script_last, 1) + 1;
	error = bpf_map_update_elem(&script_records, &id, &own->scratch[slot].script_search.record,
				    BPF_NOEXIST);
	if (!error) {
		error = bpf_map_update_elem(&script_numbers, &key, &id, BPF_NOEXIST);
		if (!error)
			return id;
		bpf_map_delete_elem(&script_records, &id);
	}
	atomic_cas_acq_rel(&engine->script_last, id, id - 1);
	return error == -ENOMEM ? -ENOMEM : 0;
}

/*
 * Reads scratch->script_search.record from the code object of the walk. A file's code outside of
 * functions has no class, although PHP gives it that of the method that includes the file.
 */
static __always_inline int script_record_read(struct scratch *scratch)
{
	struct script_walk *walk;
	struct script_record *record;
	u32 name, file, line;

	if (!scratch)
		return false;
	walk = &scratch->script;
	record = &scratch->script_search.record;
	name = walk->layout.code_name / 8;
	file = walk->layout.code_file / 8;
	line = walk->layout.first_line;
	record->runtime = walk->layout.runtime;
	record->version = walk->layout.version;
	record->first_line = (u32)(walk->code_word[line / 8 & 31] >> 8 * (line & 4)) >>
			     (walk->layout.line_shift & 31);
	return script_text_read(&record->name, scratch, walk->code_word[name & 31]) &&
	       script_text_read(&record->file, scratch, walk->code_word[file & 31]) &&
	       script_text_read(&record->owner, scratch,
				walk->code_word[name & 31] ? walk->owner : 0);
}

/*
 * Tries one hash to find or give the id of the record in scratch->script_search. 0: no id; if
 * another program has given the record its id meanwhile, the next try finds that id. If there was
 * no memory and interrupts are enabled, the kernel brings more before the next try.
 */
static long script_try_hash(u32 i, struct scratch **context)
{
	struct script_search *search = &(*context)->script_search;
	struct script_cache *cache;
	u32 zero = 0;

	search->id = script_find_id_of_hash(*context, search->hash);
	if (search->id < 0) {
		search->hash++;
		return 0;
	}
	if (search->id)
		return 1;
	search->id = script_publish_id_of_hash(*context, search->hash);
	cache = bpf_map_lookup_elem(&script_ids, &zero);
	if (cache && search->id > 0)
		script_count_id_against_quota(cache, &(*context)->script);
	return search->id > 0;
}

/* The id of the record in scratch->script_search; 0: none. */
static __always_inline int script_record_id(struct scratch *scratch)
{
	scratch->script_search.hash = scratch->script.seed;
	scratch->script_search.id = 0;
	bpf_loop(RECORD_WORDS, script_record_hash_add, &scratch, 0);
	bpf_loop(SCRIPT_TRIES_MAX, script_try_hash, &scratch, 0);
	if (scratch->script_search.id == -ENOMEM)
		scratch->script_search.lacks_memory = 1;
	return scratch->script_search.id < 0 ? 0 : scratch->script_search.id;
}

/*
 * The id of the code object of the walk, for which the cache has no id; 0: the code object gets no
 * id. On 6.1 the BPF stack has no more room for functions that this one would call.
 */
__noinline int script_read_record_and_find_id(struct scratch *scratch)
{
	return scratch && script_record_read(scratch) ? script_record_id(scratch) : 0;
}

CORE_INLINE u64 script_find_or_add_id(struct script *script)
{
	struct scratch *scratch = script->memory;
	u64 key = scratch->script.key;
	u32 zero = 0;
	struct script_cache *cache = bpf_map_lookup_elem(&script_ids, &zero);
	int id = script_read_record_and_find_id(scratch);

	if (id <= 0 || !cache)
		return 0;
	script_cache_put(cache, key, id);
	return id;
}

/* The secret of the engine's hashes of functions. The first program that needs it makes it. */
static __always_inline u64 script_hash_secret(void)
{
	struct engine_state *engine = current_engine_state();
	u64 made;

	if (!engine)
		return 0;
	if (!atomic_load_relaxed(&engine->script_seed)) {
		made = (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32() | 1;
		atomic_cas_acq_rel(&engine->script_seed, 0, made);
	}
	return atomic_load_relaxed(&engine->script_seed);
}

static __always_inline void script_clear_missing_names(struct scratch *scratch)
{
	scratch->script_search.lacks_memory = scratch->script_search.name_bytes = 0;
}

/*
 * Begins to replace the native frames of interpreters' loops in scratch->user by frames of the
 * script.
 */
static __always_inline void script_replace_begin(struct scratch *scratch, struct script *script)
{
	script->walk = &scratch->script;
	script->marks = &scratch->direct.scripts;
	script->native = &scratch->user;
	script->stack = &scratch->script_stack;
	script->memory = scratch;
	scratch->script.seed = script_hash_secret();
	script_clear_missing_names(scratch);
	scratch->script.max_depth = scratch->direct.max_depth;
	scratch->script.leaf_apart = scratch->direct.leaf != 0;
	scratch->user.word[STACK_WORDS_MAX - 1] = scratch->direct.leaf;
	scratch->counters.script_missed += scratch->direct.scripts.missed;
}

/*
 * Takes the result of a script walk into scratch->user. Without a result (is_walked false) the
 * native stack stays.
 */
static __always_inline void script_replace_end(struct scratch *scratch, bool is_walked)
{
	if (!is_walked) {
		scratch->counters.script_unjoined += scratch->direct.scripts.count;
		script_clear_missing_names(scratch); /* a second walk would fail likewise */
		return;
	}
	scratch->counters.script_joined += scratch->script.joined;
	scratch->counters.script_unjoined += scratch->script.unjoined;
	scratch->counters.script_unknown += scratch->script.unknown;
	bpf_probe_read_kernel(&scratch->user, sizeof(scratch->user), &scratch->script_stack);
	scratch->direct.leaf =
		scratch->script.leaf_apart ? scratch->user.word[STACK_WORDS_MAX - 1] : 0;
}

/*
 * Replaces the frames of loops in scratch->user. A leaf that is kept apart from the stack is
 * scratch->direct.leaf; the address space is scratch->script.space. A global function: verified by
 * itself.
 */
__noinline int script_replace_loop_frames(struct scratch *scratch)
{
	u32 zero = 0;
	struct script script = {.cache = bpf_map_lookup_elem(&script_ids, &zero)};

	if (!scratch || !script.cache)
		return 0;
	script_replace_begin(scratch, &script);
	script_replace_end(scratch, script_walk(&script));
	return 1;
}

/* Calls script_replace_loop_frames() after a direct walk whose result is final. */
static __always_inline void script_replace_after_direct_walk(struct scratch *scratch)
{
	script_clear_missing_names(scratch);
	if (!scratch->direct.scripts.count)
		return;
	scratch->script.space = scratch->search.vma.space;
	script_replace_loop_frames(scratch);
}

/* Subtracts the loops of this stack from the counters: a later walk counts them again. */
static __always_inline void script_uncount_loops(struct scratch *scratch)
{
	scratch->counters.script_missed -= scratch->direct.scripts.missed;
	scratch->counters.script_joined -= scratch->script.joined;
	scratch->counters.script_unjoined -= scratch->script.unjoined;
	scratch->counters.script_unknown -= scratch->script.unknown;
}

#endif
