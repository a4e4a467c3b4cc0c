/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of Perl scripts (core/perl_walk.h), in the callback's program: events leave stacks
 * with Perl's loop to the callback (RULE_LOOP_LEFT). The program includes perl_walk.c after this
 * header.
 */
#ifndef BPF_PERL_NAMES_H
#define BPF_PERL_NAMES_H

#include "perl_walk.h"
#include "script_stack.h"

CORE_INLINE const struct script_layout *perl_layout_of(struct script *script, u32 number)
{
	u64 key = FILE_TABLE_KEY(number, FILE_TABLE_ROOT);
	struct file_table_chunk *root = bpf_map_lookup_elem(&file_tables, &key);

	return root && root->script.runtime == SCRIPT_PERL && root->script.perl.has_names
		       ? &root->script
		       : NULL;
}

CORE_INLINE bool perl_read_file_name(struct script *script, u64 address)
{
	struct scratch *scratch = script->memory;
	struct script_text *text = &scratch->script_search.record.file;
	long bytes;

	bpf_probe_read_kernel(text, sizeof(*text), NULL); /* fails, and leaves zeros */
	bytes = bpf_probe_read_user_str(text->text, SCRIPT_TEXT_BYTES, (void *)address);
	if (bytes <= 0 || bytes >= SCRIPT_TEXT_BYTES)
		return false;
	text->bytes = bytes - 1;
	scratch->script.perl.file.bytes = bytes - 1;
	return true;
}

static __always_inline bool perl_text_copy(struct script_text *out, const struct perl_text *text)
{
	u64 bytes = text->bytes;

	bpf_probe_read_kernel(out, sizeof(*out), NULL);
	core_one_register(bytes);
	if (!text->address || !bytes)
		return !text->address;
	if (bytes > SCRIPT_TEXT_BYTES)
		return false;
	out->bytes = bytes;
	return !bpf_probe_read_user(out->text, bytes, (void *)text->address);
}

/* The id of a function that is new to the cache; 0: none. */
__noinline int perl_find_or_add_function_id(struct scratch *scratch)
{
	struct script_record *record;
	struct perl_walk *perl;

	if (!scratch)
		return 0;
	record = &scratch->script_search.record;
	perl = &scratch->script.perl;
	record->runtime = SCRIPT_PERL;
	record->version = perl->version;
	record->first_line = perl->first_line;
	record->reserved = 0;
	return perl_text_copy(&record->name, &perl->name) &&
			       perl_text_copy(&record->owner, &perl->owner)
		       ? script_record_id(scratch)
		       : 0;
}

CORE_INLINE u64 perl_find_or_add_id(struct script *script, u64 key)
{
	u32 zero = 0;
	struct script_cache *cache = bpf_map_lookup_elem(&script_ids, &zero);
	int id = perl_find_or_add_function_id(script->memory);

	if (id <= 0 || !cache)
		return 0;
	script_cache_put(cache, key, id);
	return id;
}

/* True if the innermost loop of the stack is Perl's. */
static __always_inline bool is_innermost_loop_of_perl(const struct scratch *scratch)
{
	return perl_layout_of(NULL, FRAME_MAPPING(scratch->direct.scripts.mark[0].place));
}

/* The same as script_replace_loop_frames(), for a stack of Perl. */
__noinline int perl_replace_loop_frames(struct scratch *scratch)
{
	u32 zero = 0;
	struct script script = {.cache = bpf_map_lookup_elem(&script_ids, &zero)};

	if (!scratch || !script.cache)
		return 0;
	script_replace_begin(scratch, &script);
	script_replace_end(scratch, perl_walk(&script));
	return 1;
}

#endif
