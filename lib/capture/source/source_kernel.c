/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel functions: the functions that the function tracer lists, or else all text symbols. Whether
 * a probe (fentry, kprobe) can be attached to a function is found out on attaching.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "btf_member.h"
#include "capture/feature/kernel_btf.h"
#include "error.h"
#include "source_ops.h"
#include "text_list.h"

#define TRACEABLE_FILE "/sys/kernel/tracing/available_filter_functions"
#define SYMBOL_FILE "/proc/kallsyms"
#define LINE_BYTES 1024

struct search {
	struct source_query *query;
	source_visit visit;
	void *arg;
	struct btf *
		btf; /* the kernel's BTF; NULL: the question needs no BTF, or the kernel has none */
	struct stackmap_error *error;
};

/* --- Arguments and results, by BTF or else by the calling convention. --- */

struct prototype {
	const struct search *search;
	const struct btf_type *type; /* BTF prototype of the function; NULL: not known */
	struct source *source;
};

static const struct btf_type *find_prototype(const struct btf *btf, const char *function)
{
	int id = btf ? btf__find_by_name_kind(btf, function, BTF_KIND_FUNC) : -ENOENT;
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, id);

	return type ? btf__type_by_id(btf, type->type) : NULL;
}

/* Returns the index of an argument in the prototype, by its name or as arg1, arg2...; -1: no such
 * argument.
 */
static int find_argument(const struct prototype *prototype, const char *name, size_t length)
{
	const struct btf *btf = prototype->search->btf;
	const struct btf_param *params = btf_params(prototype->type);
	u32 count = btf_vlen(prototype->type), number;

	if (sscanf(name, "arg%u", &number) == 1 && number >= 1 && number <= count)
		return number - 1;
	for (u32 i = 0; i < count; i++) {
		const char *found = btf__name_by_offset(btf, params[i].name_off);

		if (strlen(found) == length && !memcmp(found, name, length))
			return i;
	}
	return -1;
}

static int set_no_number_error(const struct prototype *prototype, const char *name,
			       struct stackmap_error *error)
{
	const struct source_query *query = prototype->search->query;
	const struct btf_param *params = prototype->type ? btf_params(prototype->type) : NULL;
	const char *function = prototype->source->target;
	u32 count = prototype->type ? btf_vlen(prototype->type) : 0;
	char names[256] = "";

	if (query->on_return)
		return error_set(error, ENOENT,
				 "%s: %s has no number %s; the return of a function has "
				 "ret, if there is a result",
				 query->subject, function, name);
	for (u32 i = 0; i < count; i++)
		word_list_add_word(names, sizeof(names),
				   btf__name_by_offset(prototype->search->btf, params[i].name_off));
	return error_set(error, ENOENT,
			 "%s: %s has no number %s in a register; its arguments are %s",
			 query->subject, function, name, names[0] ? names : "arg1 to arg6");
}

/* Sets *out to the number that `path` leads to from a word of the event: the word itself if `path`
 * is empty, else a member (btf_member.h). */
static int find_number_at_member_path(const struct prototype *prototype, u32 type, const char *name,
				      const char *path, struct source_number *out,
				      struct stackmap_error *error)
{
	const struct search *search = prototype->search;
	char reason[384];
	int err;

	if (!*path)
		return btf_number_set_size_and_sign(search->btf, type, out)
			       ? set_no_number_error(prototype, name, error)
			       : 0;
	err = btf_member_follow(search->btf, type, path, out, reason, sizeof(reason));
	/* callers of this function take -E2BIG for a list with too many sources */
	return err ? error_set(error, err == -E2BIG ? EINVAL : -err, "%s: %s: %s",
			       search->query->subject, name, reason)
		   : 0;
}

static int find_argument_number(void *arg, const char *name, struct source_number *out,
				struct stackmap_error *error)
{
	const struct prototype *prototype = arg;
	const struct btf *btf = prototype->search->btf;
	bool on_return = prototype->search->query->on_return;
	size_t length = strcspn(name, "-.");
	const struct btf_param *params;
	u32 word = 0, words = 0;
	int found;

	if (!prototype->type)
		return question_find_register(name, on_return, &out->number)
			       ? set_no_number_error(prototype, name, error)
			       : 0;
	params = btf_params(prototype->type);
	found = on_return ? -1 : find_argument(prototype, name, length);
	/* An argument that is larger than a word is passed in two registers. */
	for (u32 i = 0; i < btf_vlen(prototype->type); i++) {
		if ((int)i == found)
			word = words;
		words += btf__resolve_size(btf, params[i].type) > (s64)sizeof(u64) ? 2 : 1;
	}
	prototype->source->argument_words = words;
	if (on_return ? length != strlen("ret") || strncmp(name, "ret", length) != 0
		      : found < 0 || word >= QUESTION_ARGUMENTS)
		return set_no_number_error(prototype, name, error);
	out->number.offset = on_return ? question_result_offset() : question_argument_offset(word);
	return find_number_at_member_path(prototype,
					  on_return ? prototype->type->type : params[found].type,
					  name, name + length, out, error);
}

/* --- The functions. --- */

static int visit_matching_function(const struct search *search, const char *function)
{
	char name[LINE_BYTES + 4];
	struct source source = {
		.type = SOURCE_KERNEL,
		.name = name,
		.target = (char *)function,
		.on_return = search->query->on_return,
	};
	struct prototype prototype;

	if (!name_match_compare_name(&search->query->match, function))
		return 0;
	snprintf(name, sizeof(name), "%s%s", search->query->prefix, function);
	prototype = (struct prototype){search, find_prototype(search->btf, function), &source};
	return question_resolve(&search->query->asks, search->query->subject, find_argument_number,
				&prototype, &source, search->error)
		       ?: search->visit(search->arg, &source);
}

/* A line of the function tracer is "name" or "name [module]". */
static char *cut_name_of_traceable_line(char *line)
{
	line[strcspn(line, " \t\n")] = '\0';
	return line[0] ? line : NULL;
}

/* A line of kallsyms is "address type name" or "address type name [module]". Padding and landing
 * pads have a function's name and are never called; cold parts are not entered at their start. */
static char *cut_name_of_kallsyms_line(char *line)
{
	char *rest = line, *type, *name;

	strsep(&rest, " ");
	type = strsep(&rest, " ");
	name = strsep(&rest, " \t\n");
	if (!name || !name[0] || !strchr("tTwW", type[0]) || !strncmp(name, "__pfx_", 6) ||
	    !strncmp(name, "__cfi_", 6) || strstr(name, ".cold"))
		return NULL;
	return name;
}

static int search_function_list(const struct search *search, FILE *file,
				char *(*line_name)(char *line))
{
	char line[LINE_BYTES];
	int err = 0;

	while (!err && fgets(line, sizeof(line), file)) {
		const char *name = line_name(line);

		if (name)
			err = visit_matching_function(search, name);
	}
	fclose(file);
	return err;
}

static int find_kernel_functions(struct source_query *query, source_visit visit, void *arg,
				 struct stackmap_error *error)
{
	struct search search = {query, visit, arg, NULL, error};
	FILE *traceable = fopen(TRACEABLE_FILE, "re"), *symbols;
	int err;

	if (query->asks.name || query->asks.count)
		search.btf = kernel_btf_load();
	symbols = traceable ? NULL : fopen(SYMBOL_FILE, "re");
	if (traceable)
		err = search_function_list(&search, traceable, cut_name_of_traceable_line);
	else if (symbols)
		err = search_function_list(&search, symbols, cut_name_of_kallsyms_line);
	else
		err = error_set(error, errno, "%s: " SYMBOL_FILE ": %s", query->subject,
				strerror(errno));
	btf__free(search.btf);
	return err;
}

const struct source_ops source_kernel_ops = {
	.group = "kernel function",
	.find = find_kernel_functions,
};
