/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A function ends where the next symbol begins: the kernel's symbols come in the order of their
 * addresses. Modules, which follow, are in their own order; so ranges are sorted at the end. */
#include "capture/tracer_ranges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/kallsyms.h"
#include "symbol/whole_file.h"

/* Those of BPF programs come last, each found from the beginning of their list: with a thousand of
 * them they take longer than all others. */
#define BPF_SYMBOL "\t[bpf]"

struct parse {
	struct tracer_text *text;
	u64 open; /* start of a range whose end is not known yet; 0: none */
};

static bool has_prefix(const struct kallsyms_line *line, const char *prefix)
{
	size_t bytes = strlen(prefix);

	return line->name_bytes > bytes && !memcmp(line->name, prefix, bytes);
}

static int parse_line(void *arg, const struct kallsyms_line *line)
{
	struct parse *parse = arg;
	struct tracer_text *text = parse->text;

	if (parse->open && line->address > parse->open) {
		text->range[text->count++] =
			(struct text_range){.start = parse->open, .end = line->address};
		parse->open = 0;
	}
	if (text->count == TRACER_TEXT_MAX)
		return 1;
	if (has_prefix(line, "__traceiter_") || has_prefix(line, "__bpf_trace_"))
		parse->open = line->address;
	return 0;
}

static int by_start(const void *left, const void *right)
{
	const struct text_range *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void tracer_ranges_parse(const char *kallsyms, u64 bytes, struct tracer_text *text)
{
	struct parse parse = {.text = text};

	text->count = 0;
	kallsyms_each(kallsyms, bytes, parse_line, &parse);
	qsort(text->range, text->count, sizeof(*text->range), by_start);
}

int tracer_ranges_read(struct tracer_text *text)
{
	char *kallsyms;
	size_t bytes;
	int result = whole_file_read_until("/proc/kallsyms", BPF_SYMBOL, &kallsyms, &bytes);

	if (result)
		return result;
	tracer_ranges_parse(kallsyms, bytes, text);
	free(kallsyms);
	return 0;
}
