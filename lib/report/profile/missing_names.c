/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames without a function are grouped by their mapping, which stands for one version of one file.
 * The labels of a stack then give the file of its innermost frame and the files of all other
 * frames. Generated code is separate for each process, since each process has its own mappings.
 */
#include "missing_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "order.h"
#include "profile.h"
#include "report/name/frame_names.h"
#include "script.h"
#include "symbol/debuginfo/debug_lookup.h"

#define NO_FILE UINT32_MAX

static const struct {
	const char *name, *why, *fix;
} reasons[] = {
#define X(id, name, why, fix) [MISSING_##id] = {name, why, fix},
	MISSING_REASONS(X)
#undef X
};

const char *missing_reason_name(enum missing_reason reason)
{
	return reasons[reason].name;
}

const char *missing_reason_why(enum missing_reason reason)
{
	return reasons[reason].why;
}

const char *missing_reason_fix(enum missing_reason reason)
{
	return reasons[reason].fix;
}

bool missing_wants_debug_file(enum missing_reason reason)
{
	return reason == MISSING_GONE || reason == MISSING_REPLACED || reason == MISSING_STRIPPED;
}

struct search {
	const struct trace_reader *reader;
	struct missing_names *missing;
	u32 *file_of; /* by label id: index of the label's file, or NO_FILE */
	u32 label_count;
	u32 *last_row; /* by file: number of the last row (from 1) that has a frame in the file */
};

/* Searches linearly: a recording has hundreds of files at most. */
static int find_or_add_missing_file(struct search *search, const struct frame_name *name,
				    u32 *index)
{
	struct missing_names *missing = search->missing;
	const struct trace_mapping *mapping = NULL;

	if (!FRAME_IS_KERNEL(name->frame))
		mapping = trace_reader_mapping(search->reader, FRAME_MAPPING(name->frame));
	for (*index = 0; *index < missing->count; ++*index)
		if (missing->files[*index].mapping == mapping &&
		    !strcmp(missing->files[*index].object, name->object))
			return 0;
	if (array_make_room(missing->files, missing->count, missing->room))
		return -ENOMEM;
	missing->files[missing->count++] =
		(struct missing_file){.object = name->object, .mapping = mapping};
	return 0;
}

static int add_unnamed_frame_to_file(void *arg, const struct frame_name *name)
{
	struct search *search = arg;
	u32 file;

	if (name->function || search->file_of[name->label] != NO_FILE)
		return 0;
	if (find_or_add_missing_file(search, name, &file))
		return -ENOMEM;
	search->file_of[name->label] = file;
	search->missing->files[file].places++;
	return 0;
}

static u32 missing_file_index_of_label(const struct search *search, u32 label)
{
	return label < search->label_count ? search->file_of[label] : NO_FILE;
}

static int count_events_in_unnamed_code(struct search *search, const struct profile *profile)
{
	struct missing_names *missing = search->missing;
	struct whole_stack stack = {};
	int err = 0;

	search->last_row = calloc(missing->count + 1UL, sizeof(u32));
	if (!search->last_row)
		return -ENOMEM;
	for (u32 i = 0; i < profile->row_count && !err; i++) {
		u64 count = profile->rows[i]->count;
		u32 file;

		err = whole_stack_set_labels_of_row(&stack, profile, profile->rows[i]);
		if (err)
			break;
		file = missing_file_index_of_label(search, stack.labels[0]);
		missing->events += count;
		missing->self += file != NO_FILE ? count : 0;
		if (file != NO_FILE)
			missing->files[file].self += count;
		for (u32 j = 0; j < stack.depth; j++) {
			file = missing_file_index_of_label(search, stack.labels[j]);
			if (file == NO_FILE || search->last_row[file] == i + 1)
				continue;
			search->last_row[file] = i + 1;
			missing->files[file].children += count;
		}
	}
	whole_stack_free(&stack);
	return err;
}

static enum missing_reason find_user_file_reason(const struct trace_reader *reader,
						 const struct trace_mapping *mapping,
						 struct debug_lookup *debug)
{
	struct debug_code code = {.mapping = mapping, .release = ""};
	struct debug_facts facts;

	if (mapping->kind == MAPPING_ANON)
		return MISSING_GENERATED;
	if (!debug)
		return mapping->build_id_bytes ? MISSING_NOT_LOOKED : MISSING_NO_ID;
	code_layout_find(reader, mapping->number, &code.layout);
	facts = debug_lookup_facts(debug, &code);
	if (facts.is_graalvm && !facts.has_names)
		return MISSING_GRAALVM;
	if (!facts.has_id)
		return MISSING_NO_ID;
	if (facts.has_names)
		return facts.is_placed ? MISSING_UNCOVERED : MISSING_UNPLACED;
	if (facts.is_replaced)
		return MISSING_REPLACED;
	return facts.has_code ? MISSING_STRIPPED : MISSING_GONE;
}

static int compare_files_by_self_events(const void *left, const void *right)
{
	const struct missing_file *a = left, *b = right;

	return order(b->self, a->self) ?: order(b->children, a->children) ?: strcmp(a->object, b->object);
}

int missing_names_find(const struct trace_reader *reader, const struct profile *profile,
		       struct debug_lookup *debug, struct missing_names *missing)
{
	struct search search = {.reader = reader, .missing = missing};
	int err;

	*missing = (struct missing_names){};
	search.label_count = frame_names_label_count(profile->names);
	search.file_of = malloc((search.label_count + 1UL) * sizeof(u32));
	if (!search.file_of)
		return -ENOMEM;
	memset(search.file_of, 0xff, (search.label_count + 1UL) * sizeof(u32));
	err = frame_names_each(profile->names, add_unnamed_frame_to_file, &search)
		      ?: count_events_in_unnamed_code(&search, profile);
	free(search.file_of);
	free(search.last_row);
	if (err) {
		missing_names_free(missing);
		return err;
	}
	for (u32 i = 0; i < missing->count; i++) {
		struct missing_file *file = &missing->files[i];

		if (file->mapping)
			file->reason = find_user_file_reason(reader, file->mapping, debug);
		else if (file->object[0] != '[' || !strcmp(file->object, "[unknown]"))
			file->reason = MISSING_UNKNOWN;
		else
			file->reason = trace_reader_info(reader)->address_shown ? MISSING_KERNEL
										: MISSING_HIDDEN;
	}
	if (missing->count)
		qsort(missing->files, missing->count, sizeof(*missing->files),
		      compare_files_by_self_events);
	return 0;
}

void missing_names_free(struct missing_names *missing)
{
	free(missing->files);
	*missing = (struct missing_names){};
}

int missing_each_unread_interpreter(const struct trace_reader *reader,
				    int (*each)(void *arg, const char *text), void *arg)
{
	const struct trace_symbol *symbols;
	u32 count = trace_reader_symbols(reader, &symbols);
	int result = 0;

	for (u32 i = 0; i < count && !result; i++) {
		const struct trace_mapping *mapping =
			trace_reader_mapping(reader, symbols[i].mapping);

		if (mapping && mapping->kind == MAPPING_ANON &&
		    script_runtime_by_name(mapping->path) && symbols[i].start < SCRIPT_UNREAD_END)
			result = each(arg, symbols[i].name);
	}
	return result;
}

/* Marks the labels of user code without a name. */
static int mark_nameless_label(void *is_nameless, const struct frame_name *name)
{
	if (!name->function && !FRAME_IS_KERNEL(name->frame))
		((bool *)is_nameless)[name->label] = true;
	return 0;
}

double missing_names_share(const struct profile *profile)
{
	bool *is_nameless = calloc(frame_names_label_count(profile->names) + 1UL, sizeof(bool));
	u64 count = 0;

	if (!is_nameless)
		return 0;
	frame_names_each(profile->names, mark_nameless_label, is_nameless);
	for (u32 i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = profile->rows[i];
		const struct profile_path *path = row->kernel->depth ? row->kernel : row->user;

		if (path->depth && is_nameless[path->labels[0]])
			count += row->count;
	}
	free(is_nameless);
	return profile->count ? (double)count / (double)profile->count : 0;
}
