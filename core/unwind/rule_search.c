/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A rule of a file's table is cached for an aligned block of code around the pc (a granule), since
 * later frames in that code mostly have other pcs. If a partial table gives CFA_BY_CODE, that is
 * not cached: the analysis may find a rule for the same code, and a cached rule would hide that
 * rule.
 *
 * The pc of an interrupted task may be the address directly after a system call instruction. The
 * rule that counts is then that of the code before the pc (unwind.c). The difference matters only
 * where a row begins. The process may have written to its code, so the bytes there decide for this
 * process alone.
 */
#include "rule_search.h"
#include "arch/unwinding.h"

CORE_GLOBAL_PART int granule_size_of_rule(u64 pc, u64 interrupted, u64 from, u64 to)
{
	return rule_granule_bytes(pc, interrupted != 0, from, to);
}

CORE_PART void cache_granule_rule(struct rule_search *search, const struct rule_key *pc_key,
				  struct rule_cache *rules)
{
	u32 bytes = granule_size_of_rule(FRAME_OFFSET(search->place & ~RULE_KEY_INTERRUPTED),
					 search->place & RULE_KEY_INTERRUPTED, search->table.from,
					 search->table.to);

	if (bytes > 1) {
		struct rule_key key = rule_key_of_granule(pc_key, bytes);

		rule_cache_put(rules, &key, &search->rule);
	}
}

/*
 * If the pc directly follows a system call instruction, and a table row begins at the pc: replaces
 * the rule by that of the preceding row, which covers the instruction.
 */
CORE_PART bool use_table_row_before_syscall_end(struct rule_search *search)
{
	search->is_lasting = 0;
	search->word = 0;
	if (!rule_search_read(search, search->pc - SYSCALL_BYTES, &search->word, SYSCALL_BYTES))
		return false;
	if (core_reload(search->word) != SYSCALL_CODE)
		return true;
	search->table.offset--;
	return file_table_find(&search->table);
}

/*
 * Looks the rule up in the table of the whole file, if the file has a table. A rule for the first
 * address of a row is cached for this process, since probes of functions hit there again and again.
 * Any other rule is cached for its granule.
 */
CORE_PART bool find_table_rule(struct rule_search *search, const struct rule_key *key,
			       const struct rule_key *settled, struct rule_cache *rules)
{
	u64 frame = search->place & ~RULE_KEY_INTERRUPTED, offset = FRAME_OFFSET(frame);
	bool is_interrupted = search->place & RULE_KEY_INTERRUPTED, is_final = true, begins_row;

	search->table.number = FRAME_MAPPING(frame);
	search->table.offset = is_interrupted ? offset : offset - 1;
	if (offset >> 32 || !file_table_find(&search->table))
		return false;
	begins_row = is_interrupted && core_reload(search->table.from) == search->table.offset;
	if (begins_row && !use_table_row_before_syscall_end(search))
		return false;
	search->rule = search->table.rule;
	if (core_reload(search->table.is_partial) &&
	    core_reload(search->rule.cfa_kind) == CFA_BY_CODE)
		is_final = false;
	if (is_final && begins_row)
		rule_cache_put(rules, settled, &search->rule);
	else if (is_final)
		cache_granule_rule(search, key, rules);
	search->table_steps++;
	return true;
}

CORE_GLOBAL int rule_search_find(struct rule_search *search, struct rule_cache *rules)
{
	struct rule_key key, by_code, own, settled;
	bool is_found;

	if (core_is_null(search) || core_is_null(rules))
		return 0;
	key = (struct rule_key){.place = search->place};
	by_code = rule_key_by_code(&key);
	own = rule_key_of_address_space(&key, &search->space);
	settled = rule_key_of_row_start(&key, &search->space);
	search->is_lasting = 1;
	is_found = rule_cache_get(rules, &key, &search->rule);
	if (!is_found) {
		is_found = key.place & RULE_KEY_INTERRUPTED &&
			   rule_cache_get_exact(rules, &settled, &search->rule);
		search->is_lasting = !is_found;
	}
	if (!is_found)
		is_found = find_table_rule(search, &key, &settled, rules);
	if (is_found && core_reload(search->rule.cfa_kind) != CFA_BY_CODE)
		return true;
	search->is_lasting = 0;
	search->is_listed = is_found;
	return rule_cache_get_exact(rules, &by_code, &search->rule) ||
	       rule_cache_get_exact(rules, &own, &search->rule) || is_found;
}
