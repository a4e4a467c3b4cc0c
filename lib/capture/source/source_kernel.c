/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernel functions: the functions that the function tracer lists, or else all text symbols. Whether
 * a probe (fentry, kprobe) can be attached to a function is found out on attaching.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "source_ops.h"

#define TRACEABLE_FILE "/sys/kernel/tracing/available_filter_functions"
#define SYMBOL_FILE "/proc/kallsyms"
#define LINE_BYTES 1024

struct search {
	struct source_query *query;
	source_visit visit;
	void *arg;
};

static int try_function(const struct search *search, const char *function)
{
	char name[LINE_BYTES + 4];
	struct source source = {
		.type = SOURCE_KERNEL,
		.name = name,
		.target = (char *)function,
		.on_return = search->query->on_return,
	};

	if (!name_match_try(&search->query->match, function))
		return 0;
	snprintf(name, sizeof(name), "%s%s", search->query->prefix, function);
	return search->visit(search->arg, &source);
}

/* A line of the function tracer is "name" or "name [module]". */
static char *traceable_name(char *line)
{
	line[strcspn(line, " \t\n")] = '\0';
	return line[0] ? line : NULL;
}

/* A line of kallsyms is "address type name" or "address type name [module]". Padding and landing
 * pads have a function's name and are never called; cold parts are not entered at their start. */
static char *symbol_name(char *line)
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

static int walk(const struct search *search, FILE *file, char *(*line_name)(char *line))
{
	char line[LINE_BYTES];
	int err = 0;

	while (!err && fgets(line, sizeof(line), file)) {
		const char *name = line_name(line);

		if (name)
			err = try_function(search, name);
	}
	fclose(file);
	return err;
}

static int kernel_find(struct source_query *query, source_visit visit, void *arg,
		       struct stackmap_error *error)
{
	struct search search = {query, visit, arg};
	FILE *traceable = fopen(TRACEABLE_FILE, "re"), *symbols;

	if (traceable)
		return walk(&search, traceable, traceable_name);
	symbols = fopen(SYMBOL_FILE, "re");
	if (!symbols)
		return error_set(error, errno, "%s: " SYMBOL_FILE ": %s", query->subject,
				 strerror(errno));
	return walk(&search, symbols, symbol_name);
}

const struct source_ops source_kernel_ops = {
	.group = "kernel function",
	.find = kernel_find,
};
