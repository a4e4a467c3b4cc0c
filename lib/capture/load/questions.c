/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores the questions of all sources, their conditions and values (abi/question.h), in the BPF
 * maps that the programs read. */
#include "capture/load/attach.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/plan.h"
#include "capture/load/skeleton.h"
#include "capture/source/source_question.h"
#include "comm_glob.h"
#include "error.h"

/*
 * Programs at fentry and fexit get an array of words in the place of registers: the arguments, then
 * the result. Changes the offset of a register to the offset in this array. The register alone does
 * not tell which word is meant: arm64 has the first argument and the result in x0.
 */
static void set_number_offset_in_fentry_array(const struct source *source,
					      struct event_number *number)
{
	u32 word = 0;

	if (!number->bytes)
		return;
	if (source->on_return)
		word = source->argument_words;
	else
		while (number->offset != question_argument_offset(word))
			word++;
	number->offset = word * sizeof(u64);
}

static int store_comm_pattern(int map, const char *pattern, u32 index)
{
	const struct string_list list = {.items = &pattern, .count = 1};
	struct stackmap_error error;
	struct comm_globs globs;

	return comm_globs_compile(&list, &globs, &error)
		       ?: bpf_map_update_elem(map, &index, &globs, BPF_ANY);
}

static int store_question_of_source(const struct attachment *attachment, u32 kind, u32 *patterns)
{
	const __typeof__(attachment->sets[0].object->maps) *maps =
		&attachment->sets[0].object->maps;
	const struct source *source = &attachment->sources->sources[kind];
	bool by_array = attachment->placements[kind].program &
			(PROGRAM_KERNEL_ENTRY | PROGRAM_KERNEL_RETURN);
	struct question question = source->question;
	int result = 0;

	if (by_array) {
		set_number_offset_in_fentry_array(source, &question.value);
		set_number_offset_in_fentry_array(source, &question.factor);
		set_number_offset_in_fentry_array(source, &question.further);
		set_number_offset_in_fentry_array(source, &question.further_factor);
		set_number_offset_in_fentry_array(source, &question.key);
	}
	for (u32 i = 0; i < question.count && !result; i++) {
		struct condition *condition = &question.conditions[i];

		if (condition->subject == CONDITION_NUMBER && by_array)
			set_number_offset_in_fentry_array(source, &condition->number);
		if (condition->subject != CONDITION_COMM)
			continue;
		condition->operand = (*patterns)++;
		result = store_comm_pattern(bpf_map__fd(maps->comm_patterns), source->patterns[i],
					    condition->operand);
	}
	return result
		       ?: bpf_map_update_elem(bpf_map__fd(maps->questions), &kind, &question,
					      BPF_ANY);
}

int attachment_store_questions(const struct attachment *attachment, struct stackmap_error *error)
{
	u32 patterns = 0;
	int result = 0;

	for (u32 kind = 0; kind < attachment->plan->questions && !result; kind++)
		result = store_question_of_source(attachment, kind, &patterns);
	return result ? error_set(error, -result, "conditions and values of events: %s",
				  strerror(-result))
		      : 0;
}
